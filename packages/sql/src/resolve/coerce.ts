import { canCast } from '../functions/casts.ts';
import type { Kind } from '../functions/spec.ts';
import { notSupported } from '../refusal.ts';
import type { Typed } from '../resolved.ts';
import type { CastType } from '../tree.ts';
import { commonType, isNumeric, isOpen, isTemporal, type Type } from '../types.ts';
import { constantOf } from '../values.ts';

/** Text in quotes: it is read as what stands next to it, as in PostgreSQL. */
export const isText = (node: Typed): node is Typed & { kind: 'constant'; value: string } =>
  node.kind === 'constant' && node.type === 'String' && typeof node.value === 'string';

const forms: Partial<Record<Type, string>> = {
  Date: '2026-01-31',
  Time: '10:00:00',
  DateTime: '2026-01-31 10:00:00',
  DateTimeTz: '2026-01-31 10:00:00Z',
};

/** A text constant read as a value of `type`. */
const readAs = (node: Typed & { value: string }, type: Type): Typed => {
  if (isOpen(type) && node.kind === 'constant') return { ...node, untyped: true };
  const constant = constantOf(node.value, type);
  if (!constant) {
    const form = forms[type] ? ` Write it as \`${forms[type]}\`.` : '';
    const shown = node.value.slice(0, 50);
    throw notSupported(`\`${shown}\` is no ${type}.${form}`, shown, node.at);
  }
  return { ...constant, type: type as 'String', at: node.at };
};

const casted = (node: Typed, type: Type): Typed => ({
  kind: 'cast',
  arg: node,
  to: { type: type as CastType['type'] },
  type,
  at: node.at,
});

/** `node` as a value of `type`, which its own type fits. Only dates need a cast: their text differs on SQLite. */
export const widened = (node: Typed, type: Type): Typed => {
  if (isText(node) && type !== 'String') return readAs(node, type);
  // PostgreSQL would take a NULL without a type for text.
  if (node.type === 'Null' && !isOpen(type) && type !== 'Interval') return casted(node, type);
  return isTemporal(type) && isTemporal(node.type) && node.type !== type ? casted(node, type) : node;
};

/** A cast; of a text constant its value. */
export const castTo = (node: Typed, to: CastType, at: number | undefined): Typed => {
  if (isText(node) && to.type !== 'String' && !to.digits) return { ...readAs(node, to.type), at };
  if (!canCast(node.type, to.type))
    throw notSupported(`A cast from ${node.type} to ${to.type} is not supported.`, to.type, at);
  return { kind: 'cast', arg: node, to, type: to.type, at };
};

/**
 * The nodes as values of one type, and that type: of comparisons, CASE, COALESCE and the like. `what` is for the
 * message when there is none.
 */
export const unify = (nodes: readonly Typed[], what: string, at: number | undefined): [Typed[], Type] => {
  let common: Type = 'Null';
  for (const node of nodes) {
    if (isText(node)) continue;
    const wider = commonType(common, node.type);
    if (wider === null)
      throw notSupported(
        `\`${what}\` of ${common} and ${node.type} is not supported. Cast one of them.`,
        what,
        at,
      );
    common = wider;
  }
  // Nothing but text constants and NULL.
  if (common === 'Null' && nodes.some(isText)) common = 'String';
  return [nodes.map((node) => widened(node, common)), common];
};

const fits: Record<Exclude<Kind, 'count'>, (type: Type) => boolean> = {
  any: (type) => type !== 'Interval',
  number: isNumeric,
  text: (type) => type === 'String',
  boolean: (type) => type === 'Boolean',
  moment: isTemporal,
  clock: (type) => isTemporal(type) || type === 'Time',
};

const kindNames: Record<Exclude<Kind, 'count'>, string> = {
  any: 'a value',
  number: 'a number',
  text: 'text',
  boolean: 'a condition',
  moment: 'a date',
  clock: 'a date or time',
};

/** Types of a NULL where this kind is needed. */
const nullTypes: Partial<Record<Kind, Type>> = {
  number: 'Integer',
  text: 'String',
  boolean: 'Boolean',
  moment: 'DateTime',
  clock: 'DateTime',
};

/** `node` as an argument of this kind. */
export const asKind = (node: Typed, kind: Kind, what: string): Typed => {
  if (kind === 'count') {
    const number = asKind(node, 'number', what);
    // Each engine would make something else of a fraction: round it, cut it, or refuse it.
    return number.type === 'Decimal' || number.type === 'Float' ? casted(number, 'Integer') : number;
  }
  if (isText(node) && kind !== 'text' && kind !== 'any') {
    const type = {
      number: /^\s*[-+]?\d{1,18}\s*$/.test(node.value) ? 'Integer' : 'Decimal',
      boolean: 'Boolean',
      moment: node.value.trim().length === 10 ? 'Date' : 'DateTime',
      clock: node.value.trim().length === 10 ? 'Date' : 'DateTime',
    } as const;
    return readAs(node, type[kind]);
  }
  const nullType = nullTypes[kind];
  if (node.type === 'Null' && nullType) return casted(node, nullType);
  if (isOpen(node.type) || fits[kind](node.type)) return node;
  const hint = kind === 'text' ? ' Cast it to text.' : '';
  throw notSupported(`\`${what}\` needs ${kindNames[kind]}, not ${node.type}.${hint}`, what, node.at);
};
