import { z } from 'zod';
import type { Database, Executor } from '../../database/index.ts';
import { finder, id, jsonRoute, listPage, pageOf, pageQuery, type Route } from '../../http/index.ts';
import { toRuleResponse } from './routes.ts';
import { publicAlertRule } from './schemas.ts';
import { type AlertRule, findAlertRule, listAlertRules, listNamesOf } from './store.ts';

const namedAlertRule = publicAlertRule
  .extend({
    agent: z
      .object({ id, name: z.string() })
      .nullable()
      .meta({ id: 'AlertRuleAgent' })
      .describe('The agent that it is about.'),
    schedule: z
      .object({ id, name: z.string(), agent_id: id })
      .nullable()
      .meta({ id: 'AlertRuleSchedule' })
      .describe('The schedule that it is about.'),
  })
  .meta({ id: 'NamedAlertRule' });

const reads = { role: 'builder', scope: 'alerts:read', base: 'app' } as const;

/** Rules with the names of what they are about, for the pages of the application. */
export const alertRulePageRoutes = (db: Database): Route[] => {
  const find = finder(db, 'alert rule', 'alert_rule_id', findAlertRule);
  const toNamed = async (executor: Executor, rules: readonly AlertRule[]) => {
    const names = await listNamesOf(executor, rules);
    return rules.map((rule) => ({
      ...toRuleResponse(rule),
      agent: names.agents.get(rule.agent_id ?? '') ?? null,
      schedule: names.schedules.get(rule.schedule_id ?? '') ?? null,
    }));
  };
  return [
    jsonRoute({
      ...reads,
      id: 'listNamedAlertRules',
      request: 'GET /alert-rules',
      summary: 'List alert rules with the names of their agents and schedules',
      query: pageQuery,
      response: pageOf('NamedAlertRulePage', namedAlertRule),
      handler: listPage(db, async (executor, query) =>
        toNamed(executor, await listAlertRules(executor, query)),
      ),
    }),
    jsonRoute({
      ...reads,
      id: 'getNamedAlertRule',
      request: 'GET /alert-rules/{alert_rule_id}',
      summary: 'Get an alert rule with the name of its agent or schedule',
      find,
      response: namedAlertRule,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return db.run(async (executor) => (await toNamed(executor, [found]))[0]!);
      },
    }),
  ];
};
