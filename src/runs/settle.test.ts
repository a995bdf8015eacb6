import { expect, test } from 'vitest';
import { ApiError } from '../lib/errors.ts';
import { settle } from './settle.ts';
import type { PendingApproval } from './types.ts';

const pending = (approval_id: string, more: Partial<PendingApproval> = {}): PendingApproval => ({
  approval_id,
  kind: 'tool_call',
  tool_name: 'pay',
  tool_server_id: null,
  arguments: { amount: 1 },
  input_schema: { type: 'object' },
  reason: null,
  requested_at: '2026-01-01T00:00:00.000Z',
  expires_at: null,
  tool_call_id: `call of ${approval_id}`,
  definition_hash: 'h',
  ...more,
});
const stale = () => new ApiError('precondition_failed', 'stale');
const approve = (approval_id: string) => ({ approval_id, decision: 'approve' as const });

test('what was approved and not made yet stays approved; what is asked again is decided again', () => {
  const before = ['call of a', 'call of b'].map((tool_call_id) => ({
    ...approve('old'),
    tool_call_id,
    arguments: { amount: 9 },
  }));
  const after = settle([pending('b')], before, { decisions: [approve('b')] }, stale).decisions;
  expect(after).toMatchObject([
    { tool_call_id: 'call of a', arguments: { amount: 9 } },
    { tool_call_id: 'call of b', arguments: { amount: 1 }, edited: false },
  ]);
  expect(settle([], before, {}, stale).decisions).toEqual(before);
});

test('an external worker gets both kinds of decisions, and no result is made up for its calls', () => {
  const asked = ['a', 'b'].map((id) => {
    const { tool_call_id: _, ...approval } = pending(id);
    return approval;
  });
  const { decisions, refusals } = settle(asked, [], { decisions: [approve('a')], message: 'no' }, stale);
  expect(decisions).toEqual([
    { approval_id: 'a', decision: 'approve' },
    { approval_id: 'b', decision: 'deny', reason: 'no' },
  ]);
  expect(refusals).toEqual([]);
});

test('a decision about something else is refused before anything is looked at', () => {
  const decisions = [approve('a'), { ...approve('x'), arguments: {} }];
  expect(() => settle([pending('a')], [], { decisions }, stale)).toThrow('stale');
});
