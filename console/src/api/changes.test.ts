import { expect, test } from 'vitest';
import { changes } from './changes.ts';
import { operations } from './operations.gen.ts';

test('whatever is read again after a change is a GET or changes nothing, and a change is no GET', () => {
  for (const [operation, reads] of Object.entries(changes)) {
    expect(operations[operation as keyof typeof operations][0], operation).not.toBe('GET');
    if (reads === 'everything') continue;
    for (const read of reads) {
      if (operations[read][0] !== 'GET') expect(changes[read as keyof typeof changes], read).toEqual([]);
    }
  }
});

test('every change of the map is made by a page, and what it reads again is shown by one', () => {
  const files = import.meta.glob<string>('../**/*.{ts,tsx}', {
    query: '?raw',
    import: 'default',
    eager: true,
  });
  const text = Object.entries(files)
    .filter(([file]) => !/\.(test|gen)\.ts$|\/changes\.ts$/.test(file))
    .map(([, source]) => source)
    .join('\n');
  const reads = Object.values(changes).flatMap((each) => (each === 'everything' ? [] : each));
  const unnamed = [...new Set<string>([...Object.keys(changes), ...reads])].filter(
    (operation) => !text.includes(`'${operation}'`) && !text.includes(`"${operation}"`),
  );
  expect(unnamed).toEqual([]);
});
