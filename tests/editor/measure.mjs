// How long the user waits, measured in the page itself: from the cause until the frame that shows the effect.
import { performance } from 'node:perf_hooks';

const measured = new Map();

/**
 * Does `cause` and waits for its effect on screen: a hint's text anywhere, or the hint (or none) of a line of code,
 * on a certain line number where one is given.
 */
export async function timeUntil(name, page, cause, effect) {
  const wanted = typeof effect === 'string' ? { text: '', hint: effect } : effect;
  const start = performance.now();
  const seen = page.waitForFunction(isOnScreen, wanted, { polling: 'raf' });
  await cause();
  await seen;
  const times = measured.get(name) ?? [];
  times.push(performance.now() - start);
  measured.set(name, times);
}

/** Runs in the page. */
function isOnScreen({ text, hint, line }) {
  const plain = (element) => element.textContent.replaceAll('\u00a0', ' ');
  const rows = [...document.querySelectorAll('.editor-instance .view-line')];
  const numberOf = (row) => {
    const numbers = row.closest('.monaco-editor').querySelectorAll('.margin-view-overlays > div');
    const beside = [...numbers].find((number) => number.style.top === row.style.top);
    return Number(beside?.textContent);
  };
  return rows.some((row) => {
    const hints = [...row.querySelectorAll('span[class*="dyn-rule"]')].map(plain).join('');
    const here = plain(row).includes(text) && (line === undefined || numberOf(row) === line);
    return here && (hint === null ? hints === '' : hints.includes(hint));
  });
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Prints the median of each measure. */
export function report() {
  for (const [name, times] of measured) {
    const all = times.map((time) => time.toFixed(0)).join(', ');
    console.log(`  ${name}: median ${median(times).toFixed(0)} ms of ${times.length} (${all})`);
  }
}
