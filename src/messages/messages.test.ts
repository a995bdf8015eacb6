import { expect, test } from 'vitest';
import { toParts, toStored } from './messages.ts';

test('parts are read as they were stored', () => {
  const parts = [{ type: 'text', text: 'a' }];
  expect(toParts(parts)).toEqual(parts);
  expect(toParts([])).toEqual([]);
});

test('the text that an earlier release stored is one text part', () => {
  expect(toParts('a')).toEqual([{ type: 'text', text: 'a' }]);
  expect(toParts('')).toEqual([{ type: 'text', text: '' }]);
});

test('an assistant message that an earlier release stored is its text, unless empty, and its tool calls', () => {
  const call = { id: 'c1', name: 'pay', arguments: { amount: 3 } };
  const broken = { id: 'c2', name: 'pay', arguments: {}, fault: 'the arguments are not valid JSON' };
  const calls = [
    { type: 'tool_call', tool_call_id: 'c1', tool_name: 'pay', arguments: { amount: 3 } },
    { type: 'tool_call', tool_call_id: 'c2', tool_name: 'pay', arguments: {}, fault: broken.fault },
  ];
  expect(toParts({ text: '', tool_calls: [call, broken] })).toEqual(calls);
  expect(toParts({ text: 'a', tool_calls: [call] })).toEqual([{ type: 'text', text: 'a' }, calls[0]]);
  expect(toParts({ text: '', tool_calls: [] })).toEqual([]);
});

test('a tool result that an earlier release stored is a tool result', () => {
  const result = { tool_call_id: 'c1', tool_name: 'pay', text: 'paid', is_error: false };
  expect(toParts(result)).toEqual([{ type: 'tool_result', ...result }]);
});

test('messages are stored as the release before reads them, and read back as the same parts', () => {
  const call = { type: 'tool_call', tool_call_id: '1', tool_name: 'a', arguments: { x: 1 } } as const;
  const result = {
    type: 'tool_result',
    tool_call_id: '1',
    tool_name: 'a',
    text: 'r',
    is_error: false,
  } as const;
  const text = { type: 'text', text: 't' } as const;
  const stored = [
    toStored('user', [text]),
    toStored('system', [text]),
    toStored('assistant', [text, call]),
    toStored('assistant', [call]),
    toStored('tool', [result]),
    toStored('user', [text, text]),
    toStored('user', []),
  ];
  expect(stored).toEqual([
    't',
    't',
    { text: 't', tool_calls: [{ id: '1', name: 'a', arguments: { x: 1 } }] },
    { text: '', tool_calls: [{ id: '1', name: 'a', arguments: { x: 1 } }] },
    { tool_call_id: '1', tool_name: 'a', text: 'r', is_error: false },
    [text, text],
    [],
  ]);
  expect(stored.map(toParts)).toEqual([[text], [text], [text, call], [call], [result], [text, text], []]);
});
