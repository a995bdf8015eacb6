/** Scripts that run in a page of any engine; each is the body of a function. */

/** Collects in `window.scriptFaults` what fails from now on. */
export const collectScriptFaults = `
  if (window.scriptFaults) return;
  window.scriptFaults = [];
  const add = (what) => window.scriptFaults.push(String(what?.stack ?? what?.message ?? what).slice(0, 500));
  // An observer that finishes in the next frame is no fault, but engines report it as one.
  addEventListener('error', (event) => /ResizeObserver loop/.test(event.message) || add(event.error ?? event.message));
  addEventListener('unhandledrejection', (event) => add(event.reason));
  document.addEventListener('securitypolicyviolation', (event) => add('policy: ' + event.effectiveDirective));
  const { error } = console;
  console.error = (...all) => { add(all.map(String).join(' ')); error.apply(console, all); };
`;

/** What changes while a page is still being drawn. */
export const state = `
  const heading = document.querySelector('h1')?.textContent ?? '';
  const busy = document.querySelectorAll('[aria-busy=true]').length;
  return heading === '' || busy > 0 ? null :
    [location.href, heading, document.querySelectorAll('*').length, performance.getEntriesByType('resource').length,
      document.documentElement.scrollHeight].join(' ');
`;

/**
 * The controls in view whose middle belongs to something else, as lines. A label and what it contains stand for the
 * field that they name.
 */
export const covered = `
  const found = [];
  const controls = 'a[href], button, input, select, textarea, summary, [role=tab], [role=menuitem], [role=switch]';
  for (const element of document.querySelectorAll(controls)) {
    if (element.disabled || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    // A link in a text can have many boxes, and one in a list can be scrolled away.
    let { left, top, right, bottom } = element.getClientRects()[0] ?? element.getBoundingClientRect();
    const cut = (to) => {
      [left, top] = [Math.max(left, to.left), Math.max(top, to.top)];
      [right, bottom] = [Math.min(right, to.right), Math.min(bottom, to.bottom)];
    };
    cut({ left: 0, top: 0, right: innerWidth, bottom: innerHeight });
    for (let each = element.parentElement; each && each !== document.body; each = each.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(each);
      if (overflowX !== 'visible' || overflowY !== 'visible') cut(each.getBoundingClientRect());
    }
    if (right - left < 4 || bottom - top < 4) continue;
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const hit = document.elementFromPoint(x, y);
    const label = hit?.closest('label');
    if (hit && (element.contains(hit) || label?.contains(element) || label?.control === element)) continue;
    const name = (each) => each.tagName.toLowerCase() + ' "' +
      (each.getAttribute('aria-label') ?? each.textContent ?? '').trim().slice(0, 40) + '"';
    found.push(name(element) + ' is under ' + (hit ? name(hit) + ' ' + hit.className : 'nothing'));
  }
  return found;
`;

/** How many pixels the page scrolls sideways. */
export const sideways = 'return Math.max(0, document.documentElement.scrollWidth - innerWidth)';

/** What can be named on a page: by its label or its words, a cell by words in it. */
export type Kind = 'button' | 'link' | 'field' | 'option' | 'heading' | 'cell' | 'text';

/** What is of that kind and has that name, or null; the first argument is the kind, the second the name. */
export const control = `
  const [kind, name] = arguments;
  const selectors = {
    button: 'button, [role=button]', link: 'a[href]', field: 'input, textarea, select', option: '[role=option]',
    heading: 'h1', cell: 'td, th', text: 'main *, [role=alert], [role=status], [role=dialog] *',
  };
  const words = (each) => [
    each.getAttribute('aria-label'), ...[...(each.labels ?? [])].map((label) => label.textContent), each.textContent,
    ...(each.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent),
  ].map((text) => text?.replace(/\\s*\\*$/, '').trim());
  return [...document.querySelectorAll(selectors[kind])].find((each) => each.checkVisibility() && (kind === 'cell' ?
    each.textContent.includes(name) : words(each).includes(name))) ?? null;
`;
