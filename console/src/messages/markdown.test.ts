import { expect, test } from 'vitest';
import { parseInline, parseMarkdown } from './markdown.ts';

test('reads what agents write', () => {
  const text = `# Summary

Two *late*, **none** lost.
See [the report](https://example.com/a).

- Hamburg
  - pallet \`PAL-12\`
- Bremen

1. First
2. Second

| city | late |
|---|--:|
| Hamburg | 2 |

> quoted

\`\`\`sql
select 1;
\`\`\`
---`;
  const kinds = parseMarkdown(text).map(({ kind }) => kind);
  expect(kinds).toEqual(['heading', 'paragraph', 'list', 'list', 'table', 'quote', 'code', 'line']);
  const [, , bullets, numbers, table, , code] = parseMarkdown(text);
  expect(bullets).toMatchObject({
    ordered: false,
    items: [[{ kind: 'paragraph', text: 'Hamburg' }, { kind: 'list' }], [{ text: 'Bremen' }]],
  });
  expect(numbers).toMatchObject({ ordered: true, start: 1, items: [{}, {}] });
  expect(table).toEqual({ kind: 'table', head: ['city', 'late'], rows: [['Hamburg', '2']] });
  expect(code).toEqual({ kind: 'code', text: 'select 1;' });
  expect(parseInline('Two *late*, **none** at [the report](https://example.com/a) `x*y*`.')).toEqual([
    { kind: 'text', text: 'Two ' },
    { kind: 'em', inside: [{ kind: 'text', text: 'late' }] },
    { kind: 'text', text: ', ' },
    { kind: 'strong', inside: [{ kind: 'text', text: 'none' }] },
    { kind: 'text', text: ' at ' },
    { kind: 'link', href: 'https://example.com/a', inside: [{ kind: 'text', text: 'the report' }] },
    { kind: 'text', text: ' ' },
    { kind: 'code', text: 'x*y*' },
    { kind: 'text', text: '.' },
  ]);
});

test('leaves HTML, images and other addresses as text', () => {
  for (const text of [
    '<img src=x onerror=alert(1)>',
    '[a](javascript:alert(1))',
    '[a](data:text/html,x)',
    '<a href="https://example.com">x</a>',
    'snake_case_name and 2 * 3 * 4',
  ]) {
    expect(parseInline(text)).toEqual([{ kind: 'text', text }]);
  }
  expect(parseInline('![x](https://example.com/x.png)')[0]).toEqual({ kind: 'text', text: '!' });
});

test('reads to the end what opens much and closes nothing', () => {
  const blocks = parseMarkdown(`${'> '.repeat(2_000)}x\n\n${'- '.repeat(2_000)}y\n\`\`\`\nopen`);
  expect(blocks.map(({ kind }) => kind)).toEqual(['quote', 'list', 'code']);
  for (const mark of ['*', '_', '[', '[a](']) {
    const parts = parseInline(`${mark.repeat(20_000)} end`);
    expect(parts.at(-1)).toMatchObject({ kind: 'text', text: expect.stringMatching(/ end$/) });
  }
});

test.each([
  ['a heading with many spaces', `# a${' '.repeat(50_000)}\u2028x`],
  ['a heading with many marks', `# ${'# '.repeat(20_000)}x`],
  ['a table without dashes', `|\n|${' '.repeat(50_000)}x`],
  ['spaces', ' '.repeat(50_000)],
  ['backticks', `${'`'.repeat(20_000)}x`],
  ['lines of their own', '\u2028'.repeat(20_000)],
])('%s takes no time that grows faster than the text', (_what, text) => {
  // The limit of time of a test is the assertion: these took minutes.
  const blocks = parseMarkdown(text);
  for (const block of blocks) if ('text' in block) parseInline(block.text);
  expect(blocks.length).toBeLessThan(3);
});
