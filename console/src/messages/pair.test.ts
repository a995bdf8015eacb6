import { expect, test } from 'vitest';
import { pairCalls } from './pair.ts';
import type { MessagePart, PendingApproval, ShownMessage } from './types.ts';

const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
const call = (tool_call_id: string, tool_name: string, args: unknown = {}): MessagePart => ({
  type: 'tool_call',
  tool_call_id,
  tool_name,
  arguments: args,
});
const result = (tool_call_id: string, text: string): MessagePart => ({
  type: 'tool_result',
  tool_call_id,
  tool_name: 't',
  text,
  is_error: false,
});
const message = (seconds: number, role: ShownMessage['role'], ...content: MessagePart[]): ShownMessage => ({
  id: `m${seconds}`,
  role,
  content,
  created_at: at(seconds),
  author: 'A',
});
const approval = (id: string, tool_name: string, args: Record<string, unknown>): PendingApproval => ({
  approval_id: id,
  kind: 'tool_call',
  tool_name,
  tool_server_id: null,
  arguments: args,
  input_schema: null,
  reason: null,
  requested_at: at(9),
  expires_at: null,
  mode: null,
  url: null,
  round: null,
});

test('a result is shown with its call, also if an id is used again', () => {
  const first = call('c', 't', { n: 1 });
  const second = call('c', 't', { n: 2 });
  const { messages, calls } = pairCalls([
    message(1, 'assistant', first),
    message(3, 'tool', result('c', 'one')),
    message(4, 'assistant', second),
    message(9, 'tool', result('c', 'two')),
    message(10, 'tool', result('unknown', 'of an earlier page')),
  ]);
  expect(messages.map(({ id }) => id)).toEqual(['m1', 'm4', 'm10']);
  expect([...calls.values()].map(({ result, took }) => [result?.text, took])).toEqual([
    ['one', 2_000],
    ['two', 5_000],
  ]);
});

test('what waits is shown at its call: the one with the same arguments, else the last one of the tool', () => {
  const done = call('a', 'pay', { n: 1 });
  const [one, two] = [call('b', 'pay', { n: 1 }), call('c', 'pay', { n: 2 })];
  const { calls, unmatched } = pairCalls(
    [
      message(1, 'assistant', done),
      message(2, 'tool', result('a', 'paid')),
      message(3, 'assistant', one, two),
    ],
    [approval('1', 'pay', { n: 1 }), approval('2', 'pay', { n: 3 }), approval('3', 'send', {})],
  );
  expect([...calls.values()].map(({ approval }) => approval?.approval_id)).toEqual([undefined, '1', '2']);
  expect(unmatched.map(({ approval_id }) => approval_id)).toEqual(['3']);
});
