import { partFits } from '../functions/date-parts.ts';
import type { Kind } from '../functions/spec.ts';
import { aggregateOf, scalarOf } from '../functions/table.ts';
import { notSupported } from '../refusal.ts';
import type { ResolvedQuery, Typed } from '../resolved.ts';
import type { Expression, OrderItem, Query } from '../tree.ts';
import { commonType, isNumeric, isOpen, isTemporal, type Type } from '../types.ts';
import { rangesOf } from '../walk.ts';
import { asKind, castTo, isText, unify, widened } from './coerce.ts';
import type { Scope } from './scope.ts';

/** Position of expressions, and what they may hold there. */
export interface Place {
  scope: Scope;
  /** The clause, for messages: `WHERE`. */
  clause: string;
  aggregates: boolean;
  windows: boolean;
  /** Resolves a query inside an expression. */
  query(query: Query, scope: Scope): ResolvedQuery;
  /** Called for each aggregate that makes its SELECT a grouped one. */
  onAggregate(): void;
}

type Of<K extends Expression['kind']> = Extract<Expression, { kind: K }>;

const truth = (node: Expression, place: Place, what: string): Typed =>
  asKind(resolveExpression(node, place), 'boolean', what);

const arithmetic = (node: Of<'arithmetic'>, place: Place): Typed => {
  const { operator, at } = node;
  const [left, right] = [resolveExpression(node.left, place), resolveExpression(node.right, place)];
  const moved = (count: Typed, date: Typed): Typed => ({
    kind: 'call',
    name: 'date_add',
    args: [count, date],
    unit: 'day',
    type: 'Date',
    at,
  });
  if (operator === '+' || operator === '-') {
    if (right.kind === 'interval' || (left.kind === 'interval' && operator === '+')) {
      const [date, interval] = right.kind === 'interval' ? [left, right] : [right, left];
      const moment = asKind(date, 'moment', operator);
      return {
        kind: 'arithmetic',
        operator,
        left: moment,
        right: interval,
        type: moment.type === 'DateTimeTz' ? 'DateTimeTz' : 'DateTime',
        at,
      };
    }
    if (left.type === 'Date' && (right.type === 'Date' || (operator === '-' && isText(right))))
      if (operator === '-')
        return {
          kind: 'call',
          name: 'date_diff',
          args: [widened(right, 'Date'), left],
          unit: 'day',
          type: 'Integer',
          at,
        };
    if (left.type === 'Date' && right.type === 'Integer')
      return moved(operator === '+' ? right : { kind: 'negate', arg: right, type: 'Integer' }, left);
    if (right.type === 'Date' && left.type === 'Integer' && operator === '+') return moved(left, right);
    if (isTemporal(left.type) && isTemporal(right.type))
      throw notSupported('Subtract dates with `datediff(unit, from, to)`.', operator, at);
  }
  const [a, b] = [asKind(left, 'number', operator), asKind(right, 'number', operator)];
  const common = commonType(a.type, b.type) ?? 'Unknown';
  const type = operator === '/' && common !== 'Float' ? 'Decimal' : common;
  return { kind: 'arithmetic', operator, left: a, right: b, type, at };
};

const wholeArguments = (
  name: string,
  args: Typed[],
  whole: Record<number, [number, number]> | undefined,
  at: number | undefined,
): Typed[] => {
  const read = [...args];
  for (const [key, [least, most]] of Object.entries(whole ?? {})) {
    const arg = read[Number(key)];
    if (!arg) continue;
    // The grammar gives `-2` as a constant, a tree built by code may not.
    const value = arg.kind === 'constant' && arg.type === 'Integer' ? Number(arg.value) : Number.NaN;
    if (!(value >= least && value <= most))
      throw notSupported(
        `The argument ${Number(key) + 1} of \`${name}\` must be a whole number from ${least} to ${most}.`,
        name,
        arg.at ?? at,
      );
  }
  return read;
};

const kindOf = (params: Kind[], i: number): Kind => params[Math.min(i, params.length - 1)] ?? 'any';

const call = (node: Of<'call'>, place: Place): Typed => {
  const { name, at } = node;
  const unit = node.unit ?? '';
  const scalar = scalarOf(name);
  if (!scalar || (scalar.units ? !scalar.units.includes(unit) : unit !== ''))
    throw notSupported(`The function \`${name}\` is not available.`, name, at);
  let args = node.args.map((arg, i) => asKind(resolveExpression(arg, place), kindOf(scalar.params, i), name));
  args = wholeArguments(name, args, scalar.whole, at);
  for (const i of scalar.fixedText ?? []) {
    const arg = args[i];
    if (arg && (!isText(arg) || arg.value === ''))
      throw notSupported(`The argument ${i + 1} of \`${name}\` must be written as text.`, name, arg.at ?? at);
  }
  let types = args.map((arg) => arg.type);
  if (scalar.unified) {
    const [same, type] = unify(args, name, at);
    args = same;
    types = args.map(() => type);
  }
  if (name === 'extract' && !partFits(types[0]!, unit))
    throw notSupported(`A Time has no \`${unit}\`.`, unit, at);
  return { kind: 'call', name, args, ...(unit === '' ? {} : { unit }), type: scalar.type(types, unit), at };
};

const aggregate = (node: Of<'aggregate'>, place: Place): Typed => {
  const { name, at } = node;
  const spec = aggregateOf(name);
  if (!spec) throw notSupported(`The function \`${name}\` is not available.`, name, at);
  const over = node.over;
  if (over ? !place.windows : !place.aggregates)
    throw notSupported(
      `${over ? 'A window function' : `The aggregate \`${name}\``} cannot stand in ${place.clause}.`,
      name,
      at,
    );
  // Inside an aggregate there is none. A window may have aggregates inside, but no other window.
  const inside: Place = over
    ? { ...place, windows: false, clause: 'a window function' }
    : { ...place, aggregates: false, windows: false, clause: `\`${name}\`` };
  const read = (each: Expression): Typed => resolveExpression(each, inside);
  const ordered = (items: OrderItem<Expression>[]): OrderItem<Typed>[] =>
    items.map((item) => ({ ...item, expression: read(item.expression) }));
  const args = wholeArguments(
    name,
    node.args.map((arg, i) => asKind(read(arg), kindOf(spec.params, i), name)),
    spec.whole,
    at,
  );
  if (spec.fraction) {
    const fraction = args[1];
    const value = fraction?.kind === 'constant' && isNumeric(fraction.type) ? Number(fraction.value) : -1;
    if (!(value >= 0 && value <= 1) || fraction?.kind !== 'constant' || fraction.bound)
      throw notSupported(`\`${name}\` needs a fraction from 0 to 1.`, name, at);
  }
  if (name === 'string_agg' && !isText(args[1]!))
    throw notSupported(`\`${name}\` needs a separator written as text.`, name, at);
  if ((name === 'lag' || name === 'lead') && args[2]) {
    const [[value, other]] = unify([args[0]!, args[2]], name, at) as [[Typed, Typed], Type];
    args[0] = value;
    args[2] = other;
  }
  if ((name === 'min' || name === 'max') && args[0]!.type === 'Boolean')
    throw notSupported(`\`${name}\` of a Boolean is not supported.`, name, at);
  const resolved: Typed = {
    kind: 'aggregate',
    name,
    args,
    distinct: node.distinct,
    order: ordered(node.order),
    filter: node.filter ? truth(node.filter, inside, 'FILTER') : null,
    over: over
      ? { partition: over.partition.map(read), order: ordered(over.order), frame: over.frame }
      : null,
    type: spec.type(args.map((arg) => arg.type)),
    at,
  };
  if (!over) {
    const ranges = [...rangesOf(resolved)];
    if (ranges.length > 0 && !ranges.some((range) => place.scope.owns(range)))
      throw notSupported(`\`${name}\` over columns of the query around it is not supported.`, name, at);
    place.onAggregate();
  }
  return resolved;
};

const oneColumn = (query: ResolvedQuery, what: string, at: number | undefined): Type => {
  const [column, second] = query.columns;
  if (!column || second) throw notSupported(`A subquery in ${what} must have one column.`, what, at);
  return column.type;
};

const inQuery = (node: Of<'in_query'>, place: Place): Typed => {
  const { at, not } = node;
  const query = place.query(node.query, place.scope);
  const type = oneColumn(query, 'IN', at);
  const arg = resolveExpression(node.arg, place);
  const [same, common] = isText(arg)
    ? [widened(arg, type), type]
    : [widened(arg, type), commonType(arg.type, type)];
  if (common === null || (isTemporal(common) && common !== type))
    throw notSupported(`IN of ${arg.type} and ${type} is not supported. Cast one of them.`, 'IN', at);
  return { kind: 'in_query', arg: same, query, not, type: 'Boolean', at };
};

const cases = (node: Of<'case'>, place: Place): Typed => {
  const { at } = node;
  const operand = node.operand ? resolveExpression(node.operand, place) : null;
  const tests = node.whens.map(({ when }) =>
    operand ? resolveExpression(when, place) : truth(when, place, 'CASE'),
  );
  const compared = operand ? unify([operand, ...tests], 'CASE', at)[0] : [null, ...tests];
  const results = [
    ...node.whens.map(({ result }) => resolveExpression(result, place)),
    ...(node.otherwise ? [resolveExpression(node.otherwise, place)] : []),
  ];
  const [same, type] = unify(results, 'CASE', at);
  return {
    kind: 'case',
    operand: compared[0] ?? null,
    whens: node.whens.map((_, i) => ({ when: compared[i + 1]!, result: same[i]! })),
    otherwise: node.otherwise ? same.at(-1)! : null,
    type,
    at,
  };
};

/** `expression` with its names found, its types known, and nothing in it that does not belong in its place. */
export const resolveExpression = (node: Expression, place: Place): Typed => {
  const { at } = node;
  switch (node.kind) {
    case 'column':
      return place.scope.column(node.table, node.name, at);
    case 'constant':
      return node;
    case 'interval':
      return { ...node, type: 'Interval' };
    case 'call':
      return call(node, place);
    case 'aggregate':
      return aggregate(node, place);
    case 'arithmetic':
      return arithmetic(node, place);
    case 'negate': {
      const arg = asKind(resolveExpression(node.arg, place), 'number', '-');
      return { kind: 'negate', arg, type: arg.type, at };
    }
    case 'compare': {
      const sides = [resolveExpression(node.left, place), resolveExpression(node.right, place)];
      const [[left, right]] = unify(sides, node.operator, at) as [[Typed, Typed], Type];
      return { kind: 'compare', operator: node.operator, left, right, type: 'Boolean', at };
    }
    case 'distinct_from': {
      const sides = [resolveExpression(node.left, place), resolveExpression(node.right, place)];
      const [[left, right]] = unify(sides, 'IS DISTINCT FROM', at) as [[Typed, Typed], Type];
      return { kind: 'distinct_from', left, right, not: node.not, type: 'Boolean', at };
    }
    case 'and':
    case 'or': {
      const args = node.args.map((arg) => truth(arg, place, node.kind.toUpperCase()));
      return { kind: node.kind, args, type: 'Boolean', at };
    }
    case 'not':
      return { kind: 'not', arg: truth(node.arg, place, 'NOT'), type: 'Boolean', at };
    case 'is_null': {
      const arg = asKind(resolveExpression(node.arg, place), 'any', 'IS NULL');
      return { kind: 'is_null', arg, not: node.not, type: 'Boolean', at };
    }
    case 'is_boolean': {
      const arg = truth(node.arg, place, 'IS');
      return { kind: 'is_boolean', arg, value: node.value, not: node.not, type: 'Boolean', at };
    }
    case 'like': {
      const name = node.ignoreCase ? 'ILIKE' : 'LIKE';
      const arg = asKind(resolveExpression(node.arg, place), 'text', name);
      const pattern = asKind(resolveExpression(node.pattern, place), 'text', name);
      return { kind: 'like', arg, pattern, ignoreCase: node.ignoreCase, not: node.not, type: 'Boolean', at };
    }
    case 'between': {
      const values = [node.arg, node.low, node.high].map((each) => resolveExpression(each, place));
      const [[arg, low, high]] = unify(values, 'BETWEEN', at) as [[Typed, Typed, Typed], Type];
      return { kind: 'between', arg, low, high, not: node.not, type: 'Boolean', at };
    }
    case 'in': {
      const values = [node.arg, ...node.items].map((each) => resolveExpression(each, place));
      const [[arg, ...items]] = unify(values, 'IN', at) as [[Typed, ...Typed[]], Type];
      return { kind: 'in', arg, items, not: node.not, type: 'Boolean', at };
    }
    case 'in_query':
      return inQuery(node, place);
    case 'exists':
      return { kind: 'exists', query: place.query(node.query, place.scope), type: 'Boolean', at };
    case 'query': {
      const query = place.query(node.query, place.scope);
      return { kind: 'query', query, type: oneColumn(query, 'an expression', at), at };
    }
    case 'case':
      return cases(node, place);
    case 'cast':
      return castTo(resolveExpression(node.arg, place), node.to, at);
  }
};

export const isCondition = (node: Typed): boolean => node.type === 'Boolean' || isOpen(node.type);
