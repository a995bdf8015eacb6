import { addressees } from '../../access/index.ts';
import type { Executor, Tx } from '../../database/index.ts';
import type { Announced, Announcer, ReviewFacts } from '../../lib/announcer.ts';
import { type Role, roleAllows } from '../../lib/principal.ts';
import { matchesAlert, matchesApproval } from '../notification-routes/match.ts';
import type { AlertMatch, Recipients, ReviewMatch, Step } from '../notification-routes/schemas.ts';
import {
  insertSteps,
  listRoutesInOrder,
  type RouteRow,
  takeDueSteps,
  takeStepsOf,
} from '../notification-routes/store.ts';
import { findChannel } from '../store.ts';
import { insertMessages, listMessages, type NewMessage, raiseVersions, theChannel } from './store.ts';

/** The most people whom a step with a role is sent to. */
const mostWithRole = 50;
/** The steps that one pass sends: the next one follows within seconds. */
const stepsAtOnce = 500;

/** The routes of a review: the first of each approval. */
const routesOfReview = async (tx: Tx, facts: ReviewFacts): Promise<RouteRow[]> => {
  const routes = await listRoutesInOrder(tx, 'reviews');
  if (routes.length === 0) return [];
  const found = facts.approvals.flatMap(
    (approval) => routes.find(({ match }) => matchesApproval(match as ReviewMatch, facts, approval)) ?? [],
  );
  return [...new Set(found)];
};

/** The messages of a step: one for each recipient. */
const messagesOfStep = async (tx: Tx, channelId: string, to: Recipients): Promise<NewMessage[]> => {
  if (to === 'channel') {
    const row = await findChannel(tx, channelId);
    return row?.kind === 'email'
      ? row.recipients.map((recipient) => ({ channelId, recipient }))
      : [{ channelId, recipient: theChannel }];
  }
  const people =
    'role' in to
      ? await addressees.listActiveWithRole(tx, to.role, mostWithRole)
      : await addressees.listByIds(tx, to.user_ids);
  return people.map(({ id, name }) => ({ channelId, recipient: id, recipientName: name }));
};

const createAnnouncer = (): Announcer<Executor, Tx> => {
  const send = async (
    tx: Tx,
    what: Announced,
    steps: readonly { channel_id: string; to: Recipients }[],
  ): Promise<void> => {
    const messages: NewMessage[] = [];
    for (const { channel_id, to } of steps) messages.push(...(await messagesOfStep(tx, channel_id, to)));
    await insertMessages(tx, what, messages);
  };

  return {
    decideRoleFor: async (tx, facts) =>
      (await routesOfReview(tx, facts)).reduce<Role | null>(
        (highest, { decide_role: role }) =>
          role !== null && (highest === null || roleAllows(role, highest)) ? role : highest,
        null,
      ),
    opened: async (tx, { type, id, facts }) => {
      const routes =
        type === 'review'
          ? await routesOfReview(tx, facts)
          : (await listRoutesInOrder(tx, 'alerts'))
              .filter(({ match }) => matchesAlert(match as AlertMatch, facts))
              .slice(0, 1);
      const steps: Step[] = routes.flatMap((route) => route.steps);
      await send(
        tx,
        { type, id },
        steps.filter(({ after_minutes }) => after_minutes === 0),
      );
      await insertSteps(
        tx,
        { type, id },
        steps.filter(({ after_minutes }) => after_minutes > 0),
      );
    },
    changed: async (tx, what, change) => {
      const steps = await takeStepsOf(tx, what);
      // Of an escalated review only Slack shows until when it waits; another mail would say nothing new.
      await raiseVersions(tx, what, change === 'escalated' ? 'slack' : undefined);
      if (change !== 'escalated') return;
      await send(
        tx,
        what,
        steps.map(({ channel_id, recipients }) => ({ channel_id, to: recipients })),
      );
    },
    messagesOf: async (executor, type, ids) => {
      if (ids.length === 0) return new Map();
      const rows = await listMessages(executor, type, ids);
      return new Map(
        [...Map.groupBy(rows, ({ subject_id }) => subject_id)].map(([id, messages]) => [
          id,
          messages.map(({ subject_id: _, ...message }) => message),
        ]),
      );
    },
    sendDueSteps: async (tx) => {
      for (const { subject_type, subject_id, channel_id, recipients } of await takeDueSteps(
        tx,
        stepsAtOnce,
      )) {
        await send(tx, { type: subject_type, id: subject_id }, [{ channel_id, to: recipients }]);
      }
    },
  };
};

/** Tells people by rows of the given transaction. It needs nothing else. */
export const announcer = createAnnouncer();
