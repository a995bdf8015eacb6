import { expect, test } from 'vitest';
import { type AttemptEvent, attemptAt, attemptsOf } from './attempts.ts';
import type { Status } from './states.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
/** The events of a history, one a second and number. */
const history = (...moves: [action: string, to: Status, more?: Partial<AttemptEvent>][]): AttemptEvent[] =>
  moves.map(([action, to, more], i) => ({
    seq: i + 1,
    at: at(i + 1),
    action,
    to,
    owner: null,
    error: null,
    ...more,
  }));

test('an attempt begins with a claim and ends as its history says', () => {
  const failed = { code: 'model_unavailable', message: 'no reply' };
  const events = history(
    ['claim', 'EXECUTING', { owner: 'a:1' }],
    ['retry', 'PENDING', { error: failed }],
    ['claim', 'EXECUTING', { owner: 'b:2' }],
    ['lease_lost', 'PENDING'],
    ['claim', 'EXECUTING', { owner: 'c:3' }],
    ['finish', 'COMPLETED'],
  );
  const usage = { input_tokens: 3, output_tokens: 1 };
  const steps = [
    { started_at: at(1), trace_id: 't1', usage, cost_nano_usd: 7, unknown_calls: 0 },
    { started_at: at(5), trace_id: 't3', usage: null, cost_nano_usd: 0, unknown_calls: 1 },
  ];
  const attempts = attemptsOf(events, steps);
  expect(attempts).toEqual([
    {
      n: 1,
      seq: 1,
      started_at: at(1),
      ended_at: at(2),
      outcome: 'RETRY',
      error: failed,
      replica: 'a:1',
      trace_id: 't1',
      usage,
      cost_nano_usd: 7,
      unknown_calls: 0,
    },
    {
      n: 2,
      seq: 3,
      started_at: at(3),
      ended_at: at(4),
      outcome: 'LOST',
      error: { code: 'lease_lost', message: 'The worker was lost.' },
      replica: 'b:2',
      trace_id: null,
      usage: null,
      cost_nano_usd: 0,
      unknown_calls: 0,
    },
    {
      n: 3,
      seq: 5,
      started_at: at(5),
      ended_at: at(6),
      outcome: 'COMPLETED',
      error: null,
      replica: 'c:3',
      trace_id: 't3',
      usage: null,
      cost_nano_usd: 0,
      unknown_calls: 1,
    },
  ]);
  expect([0, 1, 2, 3, 4, 6].map((seq) => attemptAt(attempts, seq))).toEqual([null, null, 1, 1, 2, 3]);
});

test('attempts are counted again after a continue and a restart; a released one does not count', () => {
  const events = history(
    ['claim', 'EXECUTING'],
    ['hand_back', 'PENDING'],
    ['claim', 'EXECUTING'],
    ['finish', 'NEEDS_REVIEW'],
    ['continue', 'PENDING'],
    ['claim', 'EXECUTING'],
    ['retry', 'ERROR'],
    ['restart', 'PENDING'],
    ['claim', 'EXECUTING'],
  );
  expect(attemptsOf(events, []).map(({ n, outcome }) => [n, outcome])).toEqual([
    [1, 'RELEASED'],
    [1, 'NEEDS_REVIEW'],
    [1, 'ERROR'],
    [1, null],
  ]);
});
