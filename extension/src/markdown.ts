/** Markdown as plain text, for places that show none. Links keep their Markdown form, which a status item understands. */
export function plain(markdown: string): string {
  return markdown
    .replace(/(?<!\\)(\*\*|__)(?=\S)(.+?)\1/g, '$2')
    .replace(/`([^`]+)`/g, '$1')
    .replace(/\\([\\`*_{}[\]()#+\-.!|~<>])/g, '$1')
    .replace(/\s*\n\s*/g, ' ')
    .trim();
}
