import { sql } from '../../database/index.ts';
import { counted, isolate, sentence } from '../../lib/prose.ts';
import { lengthOf } from '../../lib/times.ts';
import { readIntegrations } from '../../observability/index.ts';
import { countedFrom, paramsIn } from '../rules/narrowest.ts';
import type { Condition } from './condition.ts';

/** Integrations that are paused, or whose oldest span waits for long. */
export const integration: Condition = {
  subjectOf: () => 'integration',
  ruleFor: (rules) => rules.narrowest({}),
  noun: 'integration',
  together: (integrations) => `${integrations} do not deliver`,
  mayFind: () => sql`exists (select from observability_integrations where is_enabled)`,
  find: async ({ tx, now, rules }) => {
    const rule = rules.narrowest({});
    if (!rule) return [];
    const limitMs = paramsIn(rule, 'integration').minutes * 60_000;
    return (await readIntegrations(tx, now)).flatMap((one) => {
      const { state, queued, backlog_age_seconds, last_error } = one;
      const oldest = now - backlog_age_seconds * 1_000;
      const isBehind = queued > 0 && now - countedFrom(rule, oldest) > limitMs;
      if (state === 'disabled' || (state !== 'paused' && !isBehind)) return [];
      const kept =
        queued === 0
          ? ''
          : `${counted(queued, 'span')} ${queued === 1 ? 'is' : 'are'} queued, the oldest for ${lengthOf(now - oldest)}.`;
      const why = last_error ? sentence(last_error) : '';
      return {
        rule,
        subject: { id: one.id, name: one.name, agentId: null },
        cause: now,
        title:
          state === 'paused'
            ? `${isolate(one.name)} is paused`
            : `${isolate(one.name)} is ${lengthOf(now - oldest)} behind`,
        detail: [why, kept, state === 'paused' ? 'It resumes when a test succeeds or after an edit.' : '']
          .filter((part) => part !== '')
          .join(' '),
      };
    });
  },
};
