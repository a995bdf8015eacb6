import { expect, test } from 'vitest';
import { toParts } from './messages.ts';

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
