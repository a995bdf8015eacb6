import { mayGiveRoles } from '../access/index.ts';
import { ApiError } from '../lib/errors.ts';
import { type Principal, type Scope, scopesAllow } from '../lib/principal.ts';
import { type SettingName, settingScopes } from '../settings/index.ts';
import type { Entry } from './entries.ts';
import type { KindName } from './kind.ts';
import type { Plan } from './plan.ts';

const scopeOfKind: Readonly<Record<KindName, Scope>> = {
  settings: 'settings',
  branding: 'settings',
  default_llm: 'llm',
  llm_configuration: 'llm',
  price: 'costs',
  tool_server: 'agents',
  data_connection: 'data',
  event_connection: 'triggers',
  semantic_data_model: 'data',
  dataset: 'evaluations',
  agent: 'agents',
  schedule: 'schedules',
  trigger: 'triggers',
  budget: 'costs',
  integration: 'observability',
  alert_rule: 'alerts',
  channel: 'alerts',
  route: 'alerts',
  role_mapping: 'access',
  document_intelligence: 'data',
};

/** A scope that a key lacks to change things of a kind. Null: no scope is enough, because people get roles by it. */
export interface MissingScope {
  kind: KindName;
  scope: Scope | null;
}

const givesRoles = ({ kind, changed, item }: Entry): boolean =>
  kind.kind === 'role_mapping' ||
  (kind.kind === 'settings' && changed.has('DEFAULT_ROLE') && item?.DEFAULT_ROLE !== 'none');

const neededBy = (entry: Entry): (Scope | null)[] => [
  scopeOfKind[entry.kind.kind],
  ...(entry.kind.kind === 'settings'
    ? [...entry.changed].flatMap((name) => settingScopes[name as SettingName] ?? [])
    : []),
  ...(givesRoles(entry) ? [null] : []),
];

export const missingScopes = ({ entries }: Plan, principal: Principal): MissingScope[] => {
  const missing = entries
    .filter(({ action, cascades }) => action !== 'unchanged' && !cascades)
    .flatMap((entry) =>
      neededBy(entry)
        .filter((scope) =>
          scope === null ? !mayGiveRoles(principal) : !scopesAllow(principal.scopes, scope),
        )
        .map((scope) => ({ kind: entry.kind.kind, scope })),
    );
  return [...new Map(missing.map((one) => [`${one.kind} ${one.scope}`, one])).values()];
};

/** Throws 403 with `missing_scopes` if the key of the principal may not make the changes of the plan. */
export const checkScopes = (plan: Plan, principal: Principal): void => {
  const missing = missingScopes(plan, principal);
  if (missing.length === 0) return;
  const lacking = missing.flatMap(({ kind, scope }) => (scope === null ? [] : [`${scope} (for ${kind})`]));
  const giving = missing.flatMap(({ kind, scope }) => (scope === null ? [kind] : []));
  const sentences = [
    'Your API key cannot apply this document.',
    ...(lacking.length > 0 ? [`It lacks the scopes ${lacking.join(', ')}.`] : []),
    ...(giving.length > 0
      ? [`A key with scopes gives no role to people (${giving.join(', ')}): use a key without scopes.`]
      : []),
  ];
  throw new ApiError('forbidden', sentences.join(' '), { missing_scopes: missing });
};
