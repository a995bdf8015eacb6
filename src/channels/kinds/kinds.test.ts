import { expect, test } from 'vitest';
import { startCallbackReceiver } from '../../../tests/harness/callback-receiver.ts';
import { systemClock } from '../../lib/clock.ts';
import { createEgress } from '../../lib/egress.ts';
import { noticeOf } from '../messages/notice.ts';
import type { ShownAlert, ShownReview } from '../messages/subject.ts';
import { createKinds } from './index.ts';

const at = '2026-01-31T02:31:00.000Z';
const alert: ShownAlert = {
  id: '019a0000-0000-7000-8000-000000000000',
  kind: 'missed',
  severity: 'error',
  subject: { type: 'schedule', id: 'x', name: 'nightly' },
  state: 'firing',
  title: '**nightly** did not fire',
  detail: 'It was due.',
  fired_at: at,
  resolved_at: null,
  acknowledged_at: null,
  acknowledged_by: null,
  note: null,
};
const publicUrl = () => 'https://platform.example';

test('PagerDuty gets trigger, acknowledge and resolve under the id of the alert, Teams a card without markup', async () => {
  await using receiver = await startCallbackReceiver();
  const kinds = createKinds({ egress: createEgress({}), clock: systemClock, publicUrl });
  const pager = { kind: 'pagerduty', routing_key: 'k'.repeat(32), url: receiver.url } as const;
  const teams = { kind: 'teams', url: receiver.url } as const;
  const send = (settings: typeof pager | typeof teams, now: ShownAlert, isPosted: boolean) => {
    const subject = { type: 'alert', alert: now } as const;
    return kinds.send(settings, {
      id: 'm',
      notice: noticeOf(subject, { publicUrl: publicUrl(), withArguments: false }),
      subject,
      withArguments: false,
      to: 'channel',
      posted: isPosted ? { type: 'alert.firing' } : null,
      signal: new AbortController().signal,
    });
  };
  const acknowledged = {
    ...alert,
    acknowledged_at: at,
    acknowledged_by: { kind: 'person', id: 'a', name: 'Ada' },
  };
  await send(pager, alert, false);
  await send(pager, acknowledged, true);
  await send(pager, acknowledged, false);
  await send(pager, { ...alert, state: 'resolved', resolved_at: at }, false);
  expect(receiver.requests.map(({ body }) => body.event_action)).toEqual([
    'trigger',
    'acknowledge',
    'trigger',
    'acknowledge',
    'resolve',
  ]);
  expect(new Set(receiver.requests.map(({ body }) => body.dedup_key))).toEqual(new Set([alert.id]));
  receiver.respondWith(400);
  expect((await send(pager, alert, false)).outcome).toBe('failed');
  expect((await send(teams, alert, false)).outcome).toBe('retry');
  const card = receiver.requests.at(-1)!.body.attachments[0].content;
  expect(card.actions[0].url).toBe(`https://platform.example/alerts/${alert.id}`);
  expect(JSON.stringify(card.body)).toContain('**nightly** did not fire');
  expect(JSON.stringify(card.body)).not.toContain('"TextBlock"');
});

test('each edited argument says which of several calls it belongs to', () => {
  const call = (tool_name: string, before: object, after: object | null) =>
    ({
      approval_id: tool_name,
      kind: 'tool_call',
      tool_name,
      arguments: before,
      reason: null,
      decision: 'approve',
      executed_arguments: after,
    }) as ShownReview['approvals'][number];
  const pay = call('bank__pay', { amount: 7, to: { name: 'Ada' } }, { amount: 8, to: { name: 'Bob' } });
  const review = {
    id: 'r',
    state: 'decided',
    source: 'work_item',
    agent: null,
    name: null,
    reason: null,
    approvals: [pay],
    required_role: 'member',
    opened_at: at,
    expires_at: null,
    on_expiry: null,
    escalated_at: null,
    closed_at: at,
    closed_by: null,
  } satisfies ShownReview;
  const editsOf = (approvals: ShownReview['approvals']) =>
    noticeOf(
      { type: 'review', review: { ...review, approvals } },
      { publicUrl: publicUrl(), withArguments: true },
    ).edits;
  expect(editsOf([pay])).toEqual(['amount: 7 → 8', 'to.name: "Ada" → "Bob"']);
  expect(editsOf([pay, call('bank__close', {}, null), call('bank__pay', {}, { amount: 1 })])).toEqual([
    'Call 1 of 3 (bank__pay), amount: 7 → 8',
    'Call 1 of 3 (bank__pay), to.name: "Ada" → "Bob"',
    'Call 3 of 3 (bank__pay), amount: nothing → 1',
  ]);
});
