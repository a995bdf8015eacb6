import { z } from 'zod';
import { principalNames } from '../access/index.ts';
import type { Database, Executor } from '../database/index.ts';
import {
  cursorOf,
  givenTime,
  id,
  jsonRoute,
  pageOf,
  pageQuery,
  type Route,
  sortedPage,
  timestamp,
} from '../http/index.ts';
import { notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import { type Principal, roleAllows } from '../lib/principal.ts';
import { createBudget, deleteBudget, lockBudget, lockBudgetToUpdate, updateBudget } from './budgets.ts';
import { currentPeriods, shownPeriod, states } from './current.ts';
import { fields } from './fields.ts';
import { type Budget, budgets, findBudget, listBudgets, listPeriods, subjectNames } from './store.ts';

const amount = z.int();

const period = {
  starts_at: timestamp,
  ends_at: timestamp.nullable().describe('null: it never ends.'),
  spent: amount.describe('In the unit of the budget, with what was assumed.'),
  assumed: amount.describe('The part of `spent` for calls whose usage is unknown: their bound counts.'),
  reserved: amount.describe('Granted to replicas, and not spent.'),
  extra: amount.describe('What approvals added to the limit of this period.'),
  state: z
    .enum(states)
    .describe('`warning`: the largest of `notify_percent` is reached. `exhausted`: a call found no room.'),
};

const subject = z
  .object({ id: z.string(), name: z.string().nullable().describe('null if it is gone.') })
  .nullable()
  .meta({ id: 'BudgetSubject' });

const publicBudget = z
  .object({
    id,
    ...budgets.shown,
    subject: subject.describe('What `scope` names; null for the workspace, and if each subject has its own.'),
    effective_from: timestamp.describe('Calls that began before count nothing.'),
    created_at: timestamp,
    updated_at: timestamp,
    current: z
      .object(period)
      .nullable()
      .meta({ id: 'BudgetPeriod' })
      .describe('The current period; null if each subject has its own.'),
  })
  .meta({ id: 'PublicBudget' });

const publicPeriod = z
  .object({
    id,
    subject: subject.describe('null for the workspace.'),
    ...period,
  })
  .meta({ id: 'PublicBudgetPeriod' });

const createBody = z.object(budgets.create).meta({ id: 'CreateBudgetBody' });
const updateBody = z.object(budgets.patch).meta({ id: 'UpdateBudgetBody' });

/** Budgets in a workspace document. */
export const form = { fields, body: createBody, patch: updateBody };

/** Budgets of persons are for administrators. */
const seesPeople = ({ role }: Principal): boolean => roleAllows(role, 'admin');

const namesOf = (executor: Executor, kind: Budget['scope']['kind'], ids: readonly string[]) => {
  if (kind === 'workspace' || ids.length === 0) return new Map<string, string>();
  return kind === 'person' || kind === 'api_key'
    ? principalNames(executor, ids)
    : subjectNames(executor, kind, ids.filter(isId));
};

/** Budgets as responses show them, in the same order. */
const toResponses = async (executor: Executor, all: readonly Budget[]) => {
  const current = await currentPeriods(executor, all);
  const names = new Map<string, string>();
  for (const [kind, some] of Map.groupBy(all, ({ scope }) => scope.kind)) {
    const ids = some.flatMap(({ scope: { id: one } }) => one ?? []);
    for (const [one, name] of await namesOf(executor, kind, ids)) names.set(one, name);
  }
  return all.map((budget) => {
    const { id: subjectId } = budget.scope;
    return {
      ...budget,
      subject: subjectId === null ? null : { id: subjectId, name: names.get(subjectId) ?? null },
      current: current.get(budget.id) ?? null,
    };
  });
};

const toResponse = async (executor: Executor, budget: Budget) => (await toResponses(executor, [budget]))[0]!;

const shared = { base: 'v2' } as const;

export const budgetRoutes = (db: Database): Route[] => {
  const find = async ({ params, principal }: { params: Record<string, string>; principal: Principal }) => {
    const budgetId = params.budget_id!;
    const found = isId(budgetId)
      ? await db.run((executor) => findBudget(executor, budgetId, seesPeople(principal)))
      : undefined;
    if (!found) throw notFound('budget');
    return found;
  };
  return [
    jsonRoute({
      ...shared,
      id: 'listBudgets',
      role: 'builder',
      scope: 'costs:read',
      request: 'GET /budgets',
      summary: 'List budgets',
      description: 'Those of persons are for administrators.',
      query: pageQuery,
      response: pageOf('BudgetPage', publicBudget),
      handler: ({ query, principal }) =>
        db.run(async (executor) => {
          const rows = await listBudgets(executor, query, seesPeople(principal));
          return sortedPage(
            await toResponses(executor, rows),
            query.limit,
            (row) => cursorOf(row.id),
            (row) => row,
          );
        }),
    }),
    jsonRoute({
      ...shared,
      id: 'createBudget',
      role: 'admin',
      scope: 'costs',
      request: 'POST /budgets',
      summary: 'Create a budget',
      description: 'It counts calls that begin two seconds after its creation or later.',
      otherStatuses: [400],
      body: createBody,
      response: publicBudget,
      idempotent: true,
      cache: 'revision',
      handler: ({ body, transaction, etag, actor }) =>
        transaction(async (tx) => {
          const budget = await createBudget(tx, actor, body);
          etag(budget.revision);
          return toResponse(tx, budget);
        }),
    }),
    jsonRoute({
      ...shared,
      id: 'getBudget',
      role: 'builder',
      scope: 'costs:read',
      request: 'GET /budgets/{budget_id}',
      summary: 'Get a budget',
      find,
      response: publicBudget,
      cache: 'revision',
      handler: ({ found, etag }) => {
        etag(found.revision);
        return db.run((executor) => toResponse(executor, found));
      },
    }),
    jsonRoute({
      ...shared,
      id: 'updateBudget',
      role: 'admin',
      scope: 'costs',
      request: 'PATCH /budgets/{budget_id}',
      summary: 'Update a budget',
      description: 'Calls that wait for room go on as soon as there is some.',
      find,
      body: updateBody,
      response: publicBudget,
      cache: 'revision',
      lock: (tx, { found, body }) => lockBudgetToUpdate(tx, found.id, body),
      handler: ({ body, transaction, etag, actor }) =>
        transaction(async (tx, before) => {
          const budget = await updateBudget(tx, actor, before, body);
          etag(budget.revision);
          return toResponse(tx, budget);
        }),
    }),
    jsonRoute({
      ...shared,
      id: 'deleteBudget',
      role: 'admin',
      scope: 'costs',
      request: 'DELETE /budgets/{budget_id}',
      summary: 'Delete a budget',
      description: 'Its periods are deleted as well.',
      find,
      lock: (tx, { found }) => lockBudget(tx, found.id),
      handler: ({ transaction, actor }) => transaction((tx, budget) => deleteBudget(tx, actor, budget)),
    }),
    jsonRoute({
      ...shared,
      id: 'listBudgetPeriods',
      role: 'builder',
      scope: 'costs:read',
      request: 'GET /budgets/{budget_id}/periods',
      summary: 'List periods of a budget',
      description: 'Those in which calls began: of each subject, if each has the limit for itself.',
      find,
      query: pageQuery.extend({
        subject_id: z.string().optional(),
        from: givenTime
          .transform((value) => new Date(value))
          .optional()
          .describe('Periods that end after this time.'),
      }),
      response: pageOf('BudgetPeriodPage', publicPeriod),
      handler: ({ found, query }) =>
        db.run(async (executor) => {
          const rows = await listPeriods(executor, found.id, query);
          const names = await namesOf(
            executor,
            found.scope.kind,
            rows.map(({ subject_id }) => subject_id),
          );
          return sortedPage(
            rows,
            query.limit,
            (row) => cursorOf(row.id),
            ({ id: periodId, subject_id, ...row }) => ({
              id: periodId,
              subject: subject_id === '' ? null : { id: subject_id, name: names.get(subject_id) ?? null },
              ...shownPeriod(found, row),
            }),
          );
        }),
    }),
  ];
};
