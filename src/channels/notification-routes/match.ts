import type { AlertFacts, ReviewFacts } from '../../lib/announcer.ts';
import { isSame } from '../../lib/differences.ts';
import { pointerTokens, valueAtTokens } from '../../lib/json-pointer.ts';
import type { AlertMatch, Condition, ReviewMatch } from './schemas.ts';

type Approval = ReviewFacts['approvals'][number];

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** Returns whether a condition holds. An absent path is false, whatever the comparison; order is only between numbers. */
const holds = ({ path, op, value }: Condition, args: Approval['arguments']): boolean => {
  const at = valueAtTokens(args, pointerTokens(path)!);
  if (at === undefined) return false;
  if (op === 'exists') return true;
  if (op === 'eq') return isSame(at, value);
  if (op === 'ne') return !isSame(at, value);
  if (!isNumber(at) || !isNumber(value)) return false;
  if (op === 'gt') return at > value;
  if (op === 'gte') return at >= value;
  if (op === 'lt') return at < value;
  return at <= value;
};

/** Returns whether a tool has one of the names, of which one may end in `*`. */
const isNamed = (names: readonly string[], tool: string | null): boolean =>
  tool !== null &&
  names.some((name) => (name.endsWith('*') ? tool.startsWith(name.slice(0, -1)) : tool === name));

/** Returns whether a route of reviews is for one approval of a review. */
export const matchesApproval = (
  match: ReviewMatch,
  { source, agentId }: ReviewFacts,
  { kind, name, arguments: args }: Approval,
): boolean =>
  match.sources.includes(source) &&
  (match.agent_ids?.includes(agentId) ?? true) &&
  (match.kinds === undefined || (match.kinds as readonly string[]).includes(kind)) &&
  (match.tools === undefined || isNamed(match.tools, name)) &&
  (match.conditions ?? []).every((condition) => holds(condition, args));

/** Returns whether a route of alerts is for an alert. */
export const matchesAlert = (match: AlertMatch, { kind, agentId, severity }: AlertFacts): boolean =>
  (match.kinds === undefined || (match.kinds as readonly string[]).includes(kind)) &&
  (match.agent_ids === undefined || (agentId !== null && match.agent_ids.includes(agentId))) &&
  (match.severities === undefined || match.severities.includes(severity));
