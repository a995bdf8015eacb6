import { type Fixture, newAgent, ok } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

let names = 0;

/** Creates a channel with a name of its own. */
export const newChannel = (at: Fixture, kind: string, fields: object): Promise<Json> =>
  ok(at.api.post('/channels', { name: `${kind} ${++names}`, kind, ...fields }));

/** Creates a route of reviews of this agent, whose steps say what `steps` do. */
export const newRoute = (at: Fixture, agentId: string, steps: object[], more: object = {}): Promise<Json> =>
  ok(
    at.api.post('/routes', {
      name: `route ${++names}`,
      for: 'reviews',
      match: { agent_ids: [agentId] },
      steps,
      ...more,
    }),
  );

/** Creates an agent whose Work Items external workers execute. */
export const newExternal = (at: Fixture, name = 'Night clerk'): Promise<Json> =>
  newAgent(at, { name, execution: 'external' });

/** Lets a Work Item wait for decisions on these approvals, and resolves to its review. */
export const newReview = async (
  at: Fixture,
  agentId: string,
  approvals: object[],
  { reason = 'Please look.', name = 'Invoices' }: { reason?: string; name?: string } = {},
): Promise<Json> => {
  const item = await ok(at.api.post('/work-items', { agent_id: agentId, work_item_name: name }));
  const claim = async (): Promise<Json> =>
    (await ok(at.api.post('/work-items/claim', { agent_ids: [agentId] }))).records[0];
  let claimed = await claim();
  // One that was decided before.
  while (claimed.work_item.id !== item.id) {
    const { lease_token } = claimed;
    const done = { lease_token, outcome: 'COMPLETED' };
    await ok(at.api.post(`/work-items/${claimed.work_item.id}/finish`, done));
    claimed = await claim();
  }
  await ok(
    at.api.post(`/work-items/${item.id}/finish`, {
      lease_token: claimed.lease_token,
      outcome: 'NEEDS_REVIEW',
      review: { reason, approvals },
    }),
  );
  const { review_id } = await ok(at.api.get(`/work-items/${item.id}`));
  return ok(at.api.get(`/reviews/${review_id}`));
};

/** Decides all that a review asks. */
export const decide = (at: Fixture, review: Json, decision: 'approve' | 'deny', more: object = {}) =>
  at.api.post(`/reviews/${review.id}/decide`, {
    decisions: review.approvals.map(({ approval_id }: Json) => ({ approval_id, decision, ...more })),
  });
