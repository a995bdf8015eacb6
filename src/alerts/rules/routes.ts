import type { Database, Tx } from '../../database/index.ts';
import { finder, jsonRoute, listPage, pageQuery, type Route } from '../../http/index.ts';
import {
  createAlertRule,
  deleteAlertRule,
  lockAlertRule,
  lockRuleToUpdate,
  type NewAlertRule,
  updateAlertRule,
} from './rules.ts';
import { alertRulePage, createBody, publicAlertRule, updateBody } from './schemas.ts';
import { type AlertRule, findAlertRule, listAlertRules } from './store.ts';

const path = '/alert-rules';
const onePath = `${path}/{alert_rule_id}`;

const reads = { role: 'builder', scope: 'alerts:read', base: 'v2' } as const;
const writes = { role: 'admin', scope: 'alerts', base: 'v2' } as const;

/** A rule as the API shows it. */
export const toRuleResponse = ({ params, ...rule }: AlertRule) => ({
  ...rule,
  params: params as Record<string, number | null>,
});

interface Parts {
  db: Database;
  /** Resolves the alerts of a rule that is deleted. */
  resolveOf(tx: Tx, ruleId: string): Promise<unknown>;
}

export const alertRuleRoutes = ({ db, resolveOf }: Parts): Route[] => {
  const find = finder(db, 'alert rule', 'alert_rule_id', findAlertRule);
  return [
    jsonRoute({
      ...reads,
      id: 'listAlertRules',
      request: `GET ${path}`,
      summary: 'List alert rules',
      query: pageQuery,
      response: alertRulePage,
      handler: listPage(db, listAlertRules, toRuleResponse),
    }),
    jsonRoute({
      ...writes,
      id: 'createAlertRule',
      request: `POST ${path}`,
      summary: 'Create an alert rule',
      description:
        'For one kind and subject only the narrowest rule counts: that of the schedule, of the agent, of the workspace, and of several the oldest.',
      otherStatuses: [404],
      body: createBody,
      response: publicAlertRule,
      idempotent: true,
      cache: 'revision',
      handler: ({ body, actor, transaction, etag }) =>
        transaction(async (tx) => {
          const rule = await createAlertRule(tx, actor, body as NewAlertRule);
          etag(rule.revision);
          return toRuleResponse(rule);
        }),
    }),
    jsonRoute({
      ...reads,
      id: 'getAlertRule',
      request: `GET ${onePath}`,
      summary: 'Get an alert rule',
      find,
      response: publicAlertRule,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return toRuleResponse(found);
      },
    }),
    jsonRoute({
      ...writes,
      id: 'updateAlertRule',
      request: `PATCH ${onePath}`,
      summary: 'Update an alert rule',
      description: 'Alerts that it fires by its new parameters no longer are resolved within seconds.',
      find,
      body: updateBody,
      response: publicAlertRule,
      cache: 'revision',
      lock: (tx, { found, body }) => lockRuleToUpdate(tx, found.id, body),
      handler: ({ body, actor, transaction, etag }) =>
        transaction(async (tx, locked) => {
          const rule = await updateAlertRule(tx, actor, locked, body);
          etag(rule.revision);
          return toRuleResponse(rule);
        }),
    }),
    jsonRoute({
      ...writes,
      id: 'deleteAlertRule',
      request: `DELETE ${onePath}`,
      summary: 'Delete an alert rule',
      description: 'Its alerts are resolved.',
      find,
      lock: (tx, { found }) => lockAlertRule(tx, found.id),
      handler: ({ actor, transaction }) =>
        transaction((tx, rule) => deleteAlertRule(tx, actor, rule, resolveOf)),
    }),
  ];
};
