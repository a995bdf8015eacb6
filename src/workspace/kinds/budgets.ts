import { z } from 'zod';
import { type Budgets, budgetForm } from '../../budgets/index.ts';
import { optional, text } from '../../http/index.ts';
import { required } from '../../resource/index.ts';
import type { Item, Kind, KindName, NamesOf, Run } from '../kind.ts';
import { byFeature, resourceKind } from '../resource-kind.ts';

/** Scopes that a document may have: persons and keys belong to an installation. */
const kinds = ['workspace', 'agent', 'schedule', 'trigger', 'llm_configuration'] as const;
type ScopeKind = (typeof kinds)[number];

const scope = z
  .object({
    kind: z.enum(kinds),
    name: optional(text(500), null).describe('null: each of the kind has the limit for itself.'),
  })
  .refine(({ kind, name }) => kind !== 'workspace' || name === null, {
    path: ['name'],
    message: 'must be null: there is one workspace',
  });

type Scope = z.output<typeof scope>;

const kindOf = (kind: ScopeKind): KindName | null => (kind === 'workspace' ? null : kind);

/** The scope with an id in the place of the name. */
const toId = (run: Run, { kind, name }: Scope) => {
  const of = kindOf(kind);
  return { kind, id: of === null || name === null ? null : run.idOf(of, name) };
};

/** The scope with a name in the place of the id; undefined if a document cannot have it. */
const toName = (names: NamesOf, { kind, id }: { kind: string; id: string | null }): Scope | undefined => {
  const known = kinds.find((one) => one === kind);
  if (!known) return undefined;
  const of = kindOf(known);
  if (of === null || id === null) return { kind: known, name: null };
  const name = names(of).get(id);
  return name === undefined ? undefined : { kind: known, name };
};

const fields = { ...budgetForm.fields, scope: required(scope) };
const body = budgetForm.body.extend({ scope });
const patch = budgetForm.patch.extend({ scope: scope.optional() });

/** Budgets, but for those of persons, keys and of what was deleted. */
export const budgetKind = (budgets: Budgets): Kind =>
  resourceKind({
    fields,
    body,
    patch,
    kind: 'budget',
    key: 'budgets',
    list: async (executor, names) =>
      (await budgets.list(executor)).flatMap(({ id, scope: stored, ...values }) => {
        const named = toName(names, stored);
        return named ? [{ id, values: { ...values, scope: named } }] : [];
      }),
    references: ({ scope: given, llm }: Item) => {
      const { kind, name } = given as Scope;
      const of = kindOf(kind);
      return [
        ...(of !== null && name !== null ? [{ path: 'scope.name', kind: of, name }] : []),
        ...(typeof llm === 'string' ? [{ path: 'llm', kind: 'llm_configuration' as const, name: llm }] : []),
      ];
    },
    create: (run, values) =>
      budgets.create(run.tx, run.actor, { ...values, scope: toId(run, values.scope) }, run.leaving()),
    update: (run, id, { scope: other, ...changes }) =>
      budgets.update(run.tx, run.actor, id, { ...changes, ...(other && { scope: toId(run, other) }) }),
    remove: byFeature(budgets).remove,
  });
