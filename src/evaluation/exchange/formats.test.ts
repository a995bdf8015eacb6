import { describe, expect, test } from 'vitest';
import { formatOf, readFile } from './formats.ts';
import type { Format, ReadOptions } from './reading.ts';

const options: ReadOptions = { mode: 'worker', messageField: undefined, expectedField: undefined };
const read = (format: Format, content: string, more: Partial<ReadOptions> = {}) =>
  readFile(content, format, { ...options, ...more });
const fieldsOf = async (format: Format, content: string, more: Partial<ReadOptions> = {}) => {
  const { cases, faults } = await read(format, content, more);
  expect(faults).toEqual([]);
  return cases.map(({ fields }) => fields);
};

test.each<[Format, string]>([
  ['jsonl', '\n{"input": {"message": "a"}}'],
  ['jsonl', '{"input": {"message": "a\u2028b"}}'],
  ['openai_evals', '{"input": "a", "ideal": "b"}'],
  ['openai_evals', '{"input": [{"role": "user", "content": "a"}]}'],
  ['openai_evals', '{"item": {"question": "a"}}'],
  ['promptfoo', '{"vars": {"a": "b"}}\n{"vars": {}}'],
  ['promptfoo', '{"tests": []}'],
  ['promptfoo', '[{"vars": {}}]'],
  ['promptfoo', '{\n  "tests": []\n}'],
  ['promptfoo', '# a comment\ntests: []'],
])('%s is recognized by its first line: %j', (format, content) => {
  expect(formatOf(content)).toBe(format);
});

describe('jsonl', () => {
  test('a line is a case; what is no field, no object and no JSON is named with its line', async () => {
    const file = await read('jsonl', '{"input":{"message":"a"},"id":1}\n\n[1]\n{"a":\n{"a":"\\u0000"}');
    expect(file).toEqual({
      cases: [{ line: 1, fields: { input: { message: 'a' } } }],
      warnings: [{ line: 1, message: '`id` is not a field of a case and is left out' }],
      faults: [
        { line: 3, message: 'must be an object' },
        { line: 4, message: 'is not valid JSON' },
        { line: 5, message: 'a: must not contain the character NUL' },
      ],
    });
  });
});

describe('openai_evals', () => {
  const chat = JSON.stringify({
    input: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
      { role: 'user', content: [{ type: 'text', text: 'Three' }] },
    ],
    ideal: ['x', 'y'],
  });

  test('of chat messages the last one of a user is the message; those before are the history of a conversation', async () => {
    expect(await read('openai_evals', chat, { mode: 'conversational' })).toMatchObject({
      cases: [
        {
          fields: {
            input: {
              message: 'Three',
              history: [
                { role: 'user', content: 'One' },
                { role: 'assistant', content: 'Two' },
              ],
            },
            expected: ['x', 'y'],
          },
        },
      ],
      warnings: [{ line: 1, message: expect.stringMatching(/^system messages are left out/) }],
    });
    const { cases, warnings } = await read('openai_evals', chat);
    expect(cases[0]!.fields.input).toEqual({ message: 'Three', payload: {} });
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^system messages/),
      expect.stringMatching(/^messages before/),
    ]);
  });

  test('an item has its message and what is expected at usual keys, and the rest is the payload', async () => {
    const item = { prompt: 'p', question: 'q', answer: 'a', reference: 'r', id: 7 };
    const line = JSON.stringify({ item, sample: {} });
    expect(await read('openai_evals', line)).toEqual({
      cases: [
        {
          line: 1,
          fields: { input: { message: 'q', payload: { prompt: 'p', reference: 'r', id: 7 } }, expected: 'a' },
        },
      ],
      warnings: [{ line: 1, message: '`sample` is left out' }],
      faults: [],
    });
    const given = { messageField: 'id', expectedField: 'reference' };
    expect(await fieldsOf('openai_evals', line, given)).toMatchObject([
      { input: { message: '7', payload: { question: 'q' } }, expected: 'r' },
    ]);
    const talk = await read('openai_evals', JSON.stringify({ item }), { mode: 'conversational' });
    expect(talk.cases[0]!.fields.input).toEqual({ message: 'q', history: [] });
    expect(talk.warnings).toEqual([
      { line: 1, message: expect.stringMatching(/^prompt, reference, id: left out/) },
    ]);
  });

  test('a line without a message is a fault', async () => {
    const lines = [
      '{"ideal": "x"}',
      '{"input": {"a": 1}}',
      '{"input": [{"role": "system", "content": "x"}]}',
    ];
    const { faults } = await read('openai_evals', lines.join('\n'));
    expect(faults).toEqual([
      { line: 1, message: expect.stringMatching(/^has no message: none of input, question/) },
      { line: 2, message: '`input` must be a text or chat messages' },
      { line: 3, message: 'has chat messages without a user message' },
    ]);
  });
});

describe('promptfoo', () => {
  const document = `# tests
prompts: [file://prompt.txt]
providers:
  - openai:gpt
defaultTest:
  assert:
    - type: latency
      threshold: 2500
    - type: cost
      threshold: 1
tests:
  - description: Greets {{name}}
    vars:
      question: Say hello to {{ name }}
      name: Ann
      language: de
    metadata:
      team: support
      kind: [a, b]
    threshold: 0.5
    assert:
      - type: contains
        value: Hello {{name}}
        weight: 2
      - type: not-icontains
        value: error
      - type: contains-any
        value: a, b
      - type: javascript
        value: output.length > 3
  - vars:
      anything: Only text
    assert:
      - type: starts-with
        value: a.b
      - type: starts-with
        value: c
      - type: is-json
      - type: llm-rubric
        value: Is polite
      - type: regex
        value: ^x
      - type: tool-call-f1
        value: [search, pay]
        threshold: 0.8
      - type: equals
        value: {a: 1}
      - type: contains-all
        value: [1, true]
      - type: not-starts-with
        value: 7
`;

  test('tests become cases with graders, and what has none is a warning with its line', async () => {
    const { cases, warnings, faults } = await read('promptfoo', document);
    expect(faults).toEqual([]);
    expect(cases).toEqual([
      {
        line: 12,
        fields: {
          name: 'Greets Ann',
          input: { message: 'Say hello to Ann', payload: { name: 'Ann', language: 'de' } },
          tags: ['team:support', 'kind:a', 'kind:b'],
          graders: [
            { type: 'duration', max_seconds: 2.5 },
            { type: 'contains', values: ['Hello Ann'] },
            { type: 'contains', values: ['error'], ignore_case: true, negate: true, name: 'contains-2' },
            { type: 'contains', values: ['a', 'b'], mode: 'any', name: 'contains-3' },
          ],
        },
      },
      {
        line: 31,
        fields: {
          input: { message: 'Only text', payload: {} },
          graders: [
            { type: 'duration', max_seconds: 2.5 },
            { type: 'regex', pattern: '^a\\.b' },
            { type: 'regex', pattern: '^c', name: 'regex-2' },
            { type: 'json_schema', schema: {} },
            { type: 'llm_judge', rubric: 'Is polite' },
            { type: 'regex', pattern: '^x', name: 'regex-3' },
            {
              type: 'tool_calls',
              match: 'set',
              calls: [{ tool_name: 'search' }, { tool_name: 'pay' }],
              threshold: 0.8,
            },
            { type: 'equals', expected: { a: 1 } },
            { type: 'contains', values: ['1', 'true'], mode: 'all' },
            { type: 'regex', pattern: '^7', negate: true, name: 'regex-4' },
          ],
        },
      },
    ]);
    expect(warnings.map(({ line, message }) => `${line} ${message}`)).toEqual([
      '2 `prompts` is left out',
      '3 `providers` is left out',
      '9 the assertion cost has no grader that is like it, and is left out',
      '12 `threshold` is left out',
      '22 `weight` of the assertion contains is left out',
      '29 the assertion javascript has no grader that is like it, and is left out',
    ]);
  });

  test('a bare list, JSON, and a test a line are read alike', async () => {
    const tests = [{ vars: { prompt: 'a', expected: 'b' } }, { vars: { prompt: 'c' } }];
    const expected = [
      { input: { message: 'a', payload: {} }, expected: 'b', graders: [] },
      { input: { message: 'c', payload: {} }, graders: [] },
    ];
    for (const content of [
      JSON.stringify(tests),
      JSON.stringify({ tests }, null, 2),
      tests.map((one) => JSON.stringify(one)).join('\n'),
    ]) {
      expect(await fieldsOf('promptfoo', content)).toEqual(expected);
    }
    // Long enough for a thread of its own.
    const long = JSON.stringify({ tests: [...tests, { vars: { prompt: 'x'.repeat(70_000) } }] });
    expect(await fieldsOf('promptfoo', long)).toHaveLength(3);
  });

  test('files, lists in vars and what is no YAML are faults with their line', async () => {
    const lines = [
      'tests:',
      '  - vars: {question: file://a.txt}',
      '  - vars: {question: [a, b]}',
      '  - file://more.yaml',
      '  - vars: {question: a}',
      '    assert:',
      '      - type: is-json',
      '        value: file://schema.json',
    ];
    const { faults } = await read('promptfoo', lines.join('\n'));
    expect(faults.map(({ line, message }) => `${line} ${message.slice(0, 30)}`)).toEqual([
      '2 vars.question: refers to a fil',
      '3 vars.question: is a list, whic',
      '4 refers to tests elsewhere, whi',
      '7 is-json: refers to a file, whi',
    ]);
    for (const [content, line, message] of [
      ['tests: file://tests.csv', 1, /must be a list/],
      ['a: 1', 1, /has no `tests`/],
      ['tests:\n  - {', 2, /neither YAML nor JSON/],
      ['--- 1\n--- 2', 1, /several/],
    ] as const) {
      const [fault] = (await read('promptfoo', content)).faults;
      expect(fault, content).toMatchObject({ message: expect.stringMatching(message) });
      expect(fault!.line, content).toBeGreaterThanOrEqual(line);
    }
  });
});
