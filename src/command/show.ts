import { styleText } from 'node:util';

export interface ShownChange {
  action: 'create' | 'update' | 'delete' | 'unchanged';
  kind: string;
  name: string;
  fields: { path: string; from: unknown; to: unknown }[];
}

const marks = {
  create: ['+', 'green'],
  update: ['~', 'yellow'],
  delete: ['-', 'red'],
} as const;

/** Part of a value that is shown, in characters. */
const mostShown = 120;

/** Text that a terminal shows and does not obey: without control characters and marks of direction. */
export const safe = (text: string): string =>
  text.replaceAll(
    /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const shownValue = (value: unknown): string => {
  // Placeholders of secrets are no text of the document.
  const isSecret = typeof value === 'string' && /^(\(secret\)|(\$\{secret:\w+\} ?)+)$/.test(value);
  const text = isSecret ? value : JSON.stringify(value);
  return safe(text.length > mostShown ? `${text.slice(0, mostShown)}… (${text.length} characters)` : text);
};

/** The changes as lines, without what stays. Colors only on a terminal. */
export const showChanges = (changes: readonly ShownChange[]): string => {
  const lines = changes.flatMap(({ action, kind, name, fields }) => {
    if (action === 'unchanged') return [];
    const [mark, color] = marks[action];
    const title = kind === name ? kind : `${kind} ${JSON.stringify(name)}`;
    const shown = fields.map(({ path, from, to }) =>
      action === 'create'
        ? `      ${safe(path)}: ${shownValue(to)}`
        : `      ${safe(path)}: ${shownValue(from)} → ${shownValue(to)}`,
    );
    return [styleText(color, `  ${mark} ${safe(title)}`, { stream: process.stdout }), ...shown];
  });
  return lines.map((line) => `${line}\n`).join('');
};

/** Returns the number of things that are created, updated, deleted and left. */
export const summary = (changes: readonly ShownChange[]): string => {
  const count = (action: ShownChange['action']) =>
    changes.filter((change) => change.action === action).length;
  return `${count('create')} to create, ${count('update')} to update, ${count('delete')} to delete, ${count('unchanged')} unchanged`;
};

export const isUnchanged = (changes: readonly ShownChange[]): boolean =>
  changes.every(({ action }) => action === 'unchanged');

/** Lines of equal columns: the first to the left, the others to the right. */
export const columns = (lines: readonly (readonly string[])[]): string => {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) => {
      const cells = line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)));
      return `${cells.join('  ')}\n`;
    })
    .join('');
};
