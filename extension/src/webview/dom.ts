/** The element of the page with this id, which html.ts put there. */
export function byId<E extends HTMLElement>(id: string, type: new () => E): E {
  const element = document.getElementById(id);
  if (!(element instanceof type)) {
    throw new Error(`the page has no ${type.name} #${id}`);
  }
  return element;
}

/** A new element with a class and children; text is never read as HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = '',
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (className !== '') {
    made.className = className;
  }
  made.append(...children);
  return made;
}

/** Text whose `backticked` parts are code. */
export function withCode(text: string): (Node | string)[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? element('code', '', part) : part));
}
