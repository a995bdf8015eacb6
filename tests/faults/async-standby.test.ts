import { expect, test } from 'vitest';
import { describeWithNats } from '../harness/nats.ts';
import { runAsyncStandby } from './scenarios/async-standby.ts';

describeWithNats('a fail-over to an asynchronous standby that is behind', () => {
  test('loses what docs/high-availability.md says, and the platform goes on from there', async () => {
    const { occurrence, made, review, external, webhook, broker, charges, audit } = await runAsyncStandby();
    expect(occurrence.after.scheduled_for).toBe(occurrence.before.scheduled_for);
    expect(occurrence.after.work_item_id).not.toBe(occurrence.before.work_item_id);
    expect(made).toMatchObject({ gone: 404, again: 200 });
    expect(made.after).not.toBe(made.before);
    // Decided, and waits again; finished, and executes again: what comes of it is told twice, under two ids.
    expect(review.status).toBe('NEEDS_REVIEW');
    expect(external).toMatchObject({ finished: [200, 200], between: 'EXECUTING' });
    for (const { callbacks } of [review, external]) expect(new Set(callbacks).size).toBe(2);
    expect(webhook).toEqual({ statuses: [202, 202], left: 0, items: [1] });
    // The message that the broker knows as acknowledged comes only when its position is moved back.
    expect(broker).toEqual({ left: 1, items: [1, 1] });
    expect(charges).toEqual({ left: 1, acknowledged: 2, replies: 2, paid: 404 });
    expect(audit).toMatchObject({ before: 404, after: 404, ok: false });
    expect(audit.log).toContain('the newest checkpoint is gone: none is signed until a restart');
  }, 400_000);
});
