import type { FuncCall, Node, SortBy, WindowDef } from 'libpg-query';
import { aggregateOf } from '../functions/table.ts';
import { nearest } from '../nearest.ts';
import { notSupported } from '../refusal.ts';
import type { Expression, FrameBound, OrderItem, Window } from '../tree.ts';
import { aggregateName, functionNames, readScalar, withSeparator, wrongCount } from './names.ts';
import { functionNotAllowed, namesOf, only, type Reader } from './read.ts';

/** Names that the grammar gives to its own forms: `trim(…)`, `extract(… FROM …)`. */
const grammarNames: Record<string, string> = {
  btrim: 'trim',
  ltrim: 'ltrim',
  rtrim: 'rtrim',
  position: 'position',
  extract: 'extract',
  substring: 'substring',
};

export const readOrder = (nodes: readonly Node[] | undefined, read: Reader): OrderItem<Expression>[] =>
  (nodes ?? []).map((node) => {
    if (!('SortBy' in node)) throw notSupported('This ORDER BY is not supported.', 'ORDER BY');
    const sort: SortBy = node.SortBy;
    only('ORDER BY', sort, ['node', 'sortby_dir', 'sortby_nulls']);
    if (sort.sortby_dir === 'SORTBY_USING')
      throw notSupported('ORDER BY … USING is not supported. Use ASC or DESC.', 'USING');
    return {
      expression: read.expression(sort.node),
      descending: sort.sortby_dir === 'SORTBY_DESC',
      nullsFirst: sort.sortby_nulls === 'SORTBY_NULLS_FIRST',
    };
  });

/** The bits of `frameOptions`, from PostgreSQL's parsenodes.h. */
const frame = {
  nonDefault: 0x1,
  range: 0x2,
  rows: 0x4,
  groups: 0x8,
  startUnboundedPreceding: 0x20,
  startCurrentRow: 0x200,
  startPreceding: 0x800,
  startFollowing: 0x2000,
  endUnboundedFollowing: 0x100,
  endCurrentRow: 0x400,
  endPreceding: 0x1000,
  endFollowing: 0x4000,
  exclude: 0x38000,
};

/** The rows of a frame's bound or of LIMIT: a whole number in the text. */
export const wholeNumber = (node: Node | undefined, what: string): number => {
  const value = node && 'A_Const' in node ? node.A_Const.ival : undefined;
  const number = value === undefined ? -1 : (value.ival ?? 0);
  if (number < 0) throw notSupported(`${what} must be a whole number that is not negative.`, what);
  return number;
};

const readFrame = (over: WindowDef): Window<Expression>['frame'] => {
  const options = over.frameOptions ?? 0;
  const has = (bit: number) => (options & bit) !== 0;
  if (!has(frame.nonDefault)) return null;
  if (has(frame.groups)) throw notSupported('Frames of GROUPS are not supported. Use ROWS.', 'GROUPS');
  if (has(frame.exclude)) throw notSupported('EXCLUDE in a frame is not supported.', 'EXCLUDE');
  const mode = has(frame.rows) ? 'rows' : 'range';
  const offset = (node: Node | undefined) => {
    if (mode === 'range') throw notSupported('RANGE with an offset is not supported. Use ROWS.', 'RANGE');
    return wholeNumber(node, 'The offset of a frame');
  };
  const start: FrameBound | null = has(frame.startUnboundedPreceding)
    ? { kind: 'unbounded_preceding' }
    : has(frame.startCurrentRow)
      ? { kind: 'current_row' }
      : has(frame.startPreceding)
        ? { kind: 'preceding', rows: offset(over.startOffset) }
        : has(frame.startFollowing)
          ? { kind: 'following', rows: offset(over.startOffset) }
          : null;
  const end: FrameBound | null = has(frame.endUnboundedFollowing)
    ? { kind: 'unbounded_following' }
    : has(frame.endCurrentRow)
      ? { kind: 'current_row' }
      : has(frame.endPreceding)
        ? { kind: 'preceding', rows: offset(over.endOffset) }
        : has(frame.endFollowing)
          ? { kind: 'following', rows: offset(over.endOffset) }
          : null;
  if (!start || !end) throw notSupported('This frame is not supported.', 'OVER');
  return { mode, start, end };
};

/** Named windows of the SELECT that is being read. */
export type Windows = Map<string, WindowDef>;

const readWindow = (over: WindowDef, windows: Windows, read: Reader, inside = false): Window<Expression> => {
  const at = read.at(over.location);
  only(
    'OVER',
    over,
    ['name', 'refname', 'partitionClause', 'orderClause', 'frameOptions', 'startOffset', 'endOffset'],
    at,
  );
  if (over.refname !== undefined)
    throw notSupported('A window that extends a named one is not supported. Write it out.', over.refname, at);
  if (over.name !== undefined && !inside) {
    const named = windows.get(over.name);
    if (!named) throw notSupported(`The window \`${over.name}\` does not exist.`, over.name, at);
    return readWindow(named, windows, read, true);
  }
  return {
    partition: (over.partitionClause ?? []).map(read.expression),
    order: readOrder(over.orderClause, read),
    frame: readFrame(over),
  };
};

const wholeCall = [
  'funcname',
  'args',
  'agg_order',
  'agg_filter',
  'over',
  'agg_within_group',
  'agg_star',
  'agg_distinct',
  'funcformat',
];

/** The name that a call stands for, as users write it. */
const nameOf = (call: FuncCall, at: number | undefined): string => {
  const names = namesOf(call.funcname);
  const [schema, grammar] = names;
  if (names.length === 1) return names[0]!;
  // Only the grammar's own forms have a schema: one that is written would be a way around the list.
  const ofGrammar = call.funcformat === 'COERCE_SQL_SYNTAX' && schema === 'pg_catalog' && names.length === 2;
  if (ofGrammar && Object.hasOwn(grammarNames, grammar!)) return grammarNames[grammar!]!;
  throw functionNotAllowed(ofGrammar ? grammar! : names.join('.'), at);
};

export const readCall = (call: FuncCall, windows: Windows, read: Reader): Expression => {
  const at = read.at(call.location);
  const name = nameOf(call, at);
  const aggregate = aggregateName(name);
  if (!aggregate) {
    // First of all whether it exists: of `pg_sleep(VARIADIC …)` the name matters.
    if (!functionNames.includes(name)) throw functionNotAllowed(name, at, nearest(name, functionNames));
    only(name, call, ['funcname', 'args', 'funcformat'], at);
    const scalar = readScalar(name, (call.args ?? []).map(read.expression), at);
    if (!scalar) throw functionNotAllowed(name, at, nearest(name, functionNames));
    return scalar;
  }
  only(name, call, wholeCall, at);
  const spec = aggregateOf(aggregate)!;
  let args = (call.args ?? []).map(read.expression);
  let order = readOrder(call.agg_order, read);
  if (call.agg_star && aggregate !== 'count')
    throw notSupported(`\`${name}(*)\` is not supported. Name a column.`, name, at);
  if (!call.agg_star && aggregate === 'count' && args.length === 0) throw wrongCount(name, 1, 1, 0, at);
  if (spec.fraction) {
    const [by] = order;
    if (!call.agg_within_group || order.length !== 1 || by!.descending || args.length !== 1)
      throw notSupported(`Write \`${name}(fraction) WITHIN GROUP (ORDER BY expression)\`.`, name, at);
    args = [by!.expression, args[0]!];
    order = [];
  } else if (call.agg_within_group && name !== 'listagg')
    throw notSupported(`\`${name}\` has no WITHIN GROUP.`, name, at);
  args = withSeparator(name, args);
  const [least, most] = [spec.params.length - (spec.optional ?? 0), spec.params.length];
  if (args.length < least || args.length > most) throw wrongCount(name, least, most, args.length, at);
  if (order.length > 0 && !spec.ordered) throw notSupported(`\`${name}\` has no ORDER BY.`, name, at);
  if (call.agg_distinct && !spec.distinct) throw notSupported(`\`${name}\` has no DISTINCT.`, name, at);
  if (call.agg_filter && spec.kind === 'window') throw notSupported(`\`${name}\` has no FILTER.`, name, at);
  const over = call.over ? readWindow(call.over, windows, read) : null;
  if (!over && spec.kind === 'window')
    throw notSupported(`\`${name}\` is a window function. Write \`${name}(…) OVER (…)\`.`, name, at);
  if (over && (spec.noWindow || call.agg_distinct))
    throw notSupported(`\`${name}\` cannot have OVER${spec.noWindow ? '' : ' with DISTINCT'}.`, name, at);
  return {
    kind: 'aggregate',
    name: aggregate,
    args,
    distinct: call.agg_distinct ?? false,
    order,
    filter: call.agg_filter ? read.expression(call.agg_filter) : null,
    over,
    at,
  };
};
