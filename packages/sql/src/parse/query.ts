import type { CommonTableExpr, JoinExpr, Node, RangeSubselect, RangeVar, SelectStmt } from 'libpg-query';
import { notSupported, SqlRefusal } from '../refusal.ts';
import type { Cte, Expression, From, JoinType, Output, Query } from '../tree.ts';
import { readOrder, type Windows, wholeNumber } from './calls.ts';
import { readExpression } from './expression.ts';
import { functionNotAllowed, namesOf, only, opened, type Reader } from './read.ts';
import { type Parsed, parseStatement } from './text.ts';

const notASelect = (what: string, at?: number): SqlRefusal =>
  new SqlRefusal('not_a_select', `${what} is not accepted. Write one SELECT.`, {
    name: what,
    position: at ?? null,
  });

/** Supported keys of `SelectStmt`. Any other is refused by name. */
const selectKeys = [
  'targetList',
  'fromClause',
  'whereClause',
  'groupClause',
  'havingClause',
  'windowClause',
  'sortClause',
  'limitOffset',
  'limitCount',
  'limitOption',
  'withClause',
  'distinctClause',
  'op',
];

const joinTypes: Partial<Record<string, JoinType>> = {
  JOIN_INNER: 'inner',
  JOIN_LEFT: 'left',
  JOIN_RIGHT: 'right',
  JOIN_FULL: 'full',
};

const readerFor = (at: Parsed['at'], windows: Windows): Reader => {
  const read: Reader = {
    at,
    expression: (node) => readExpression(node, windows, read),
    query: (node) => {
      if (!node || !('SelectStmt' in node))
        throw notASelect(node ? opened(node)[0].replace(/Stmt$/, '') : 'Nothing');
      return readQuery(node.SelectStmt, at);
    },
  };
  return read;
};

const readTable = (node: RangeVar, read: Reader): From => {
  const at = read.at(node.location);
  const name = [node.catalogname, node.schemaname, node.relname]
    .filter((part) => part !== undefined)
    .join('.');
  only(name, node, ['catalogname', 'schemaname', 'relname', 'inh', 'relpersistence', 'alias'], at);
  if (node.schemaname !== undefined || node.catalogname !== undefined)
    throw new SqlRefusal(
      'unknown_table',
      `The table \`${name}\` does not exist. Tables have no schema here.`,
      {
        name,
        position: at ?? null,
      },
    );
  if (!node.inh) throw notSupported('ONLY is not supported.', 'ONLY', at);
  return { kind: 'table', name: node.relname!, ...aliasOf(node), at };
};

const aliasOf = ({ alias }: RangeVar | RangeSubselect): { alias: string | null; columns?: string[] } => ({
  alias: alias?.aliasname ?? null,
  ...(alias?.colnames ? { columns: namesOf(alias.colnames) } : {}),
});

const readJoin = (node: JoinExpr, read: Reader): From => {
  only('JOIN', node, ['jointype', 'isNatural', 'larg', 'rarg', 'usingClause', 'quals', 'rtindex']);
  const type = joinTypes[node.jointype ?? ''];
  if (!type) throw notSupported('This kind of join is not supported.', 'JOIN');
  const sides = { left: readFrom(node.larg, read), right: readFrom(node.rarg, read) };
  if (node.isNatural) return { kind: 'join', type, ...sides, using: null };
  if (node.usingClause) return { kind: 'join', type, ...sides, using: namesOf(node.usingClause) };
  if (!node.quals) return { kind: 'join', type: 'cross', ...sides };
  return { kind: 'join', type, ...sides, on: read.expression(node.quals) };
};

const readFrom = (node: Node | undefined, read: Reader): From => {
  if (!node) throw notSupported('The SQL has an empty FROM.');
  if ('RangeVar' in node) return readTable(node.RangeVar, read);
  if ('JoinExpr' in node) return readJoin(node.JoinExpr, read);
  if ('RangeSubselect' in node) {
    only('subquery', node.RangeSubselect, ['subquery', 'alias']);
    return {
      kind: 'subquery',
      query: read.query(node.RangeSubselect.subquery),
      ...aliasOf(node.RangeSubselect),
    };
  }
  if ('RangeFunction' in node) {
    const list = node.RangeFunction.functions?.[0];
    const call = list && 'List' in list ? list.List.items?.[0] : undefined;
    const name = call && 'FuncCall' in call ? namesOf(call.FuncCall.funcname).join('.') : 'function';
    throw functionNotAllowed(name, call && 'FuncCall' in call ? read.at(call.FuncCall.location) : undefined);
  }
  const [type] = opened(node);
  const shown = type === 'RangeTableSample' ? 'TABLESAMPLE' : type;
  throw notSupported(`\`${shown}\` in FROM is not supported. Use tables, joins and subqueries.`, shown);
};

const readOutput = (node: Node, read: Reader): Output => {
  if (!('ResTarget' in node)) throw notSupported('This SELECT list is not supported.');
  const target = node.ResTarget;
  only('SELECT', target, ['name', 'val']);
  const value = target.val;
  if (value && 'ColumnRef' in value) {
    const fields = value.ColumnRef.fields ?? [];
    const [first] = fields;
    if (fields.some((field) => 'A_Star' in field)) {
      const at = read.at(value.ColumnRef.location);
      // The grammar makes `TABLE x` a SELECT * that stands nowhere.
      if (at === undefined) throw notASelect('TABLE');
      if (fields.length === 1) return { kind: 'star', table: null, at };
      if (fields.length === 2 && first && 'String' in first)
        return { kind: 'star', table: first.String.sval!, at };
      throw notSupported('`*` can have one table before it.', '*', at);
    }
  }
  return { kind: 'output', expression: read.expression(value), as: target.name ?? null };
};

const readCte = (node: Node, read: Reader): Cte => {
  if (!('CommonTableExpr' in node)) throw notSupported('This WITH is not supported.', 'WITH');
  const cte: CommonTableExpr = node.CommonTableExpr;
  const at = read.at(cte.location);
  only(cte.ctename!, cte, ['ctename', 'aliascolnames', 'ctematerialized', 'ctequery'], at);
  if (cte.ctematerialized !== undefined && cte.ctematerialized !== 'CTEMaterializeDefault')
    throw notSupported('MATERIALIZED is not supported.', 'MATERIALIZED', at);
  return {
    name: cte.ctename!,
    query: read.query(cte.ctequery),
    at,
    ...(cte.aliascolnames ? { columns: namesOf(cte.aliascolnames) } : {}),
  };
};

const readTail = (node: SelectStmt, read: Reader) => {
  if (node.withClause) {
    only('WITH', node.withClause, ['ctes', 'recursive']);
    if (node.withClause.recursive)
      throw notSupported('WITH RECURSIVE is not supported.', 'RECURSIVE', read.at(node.withClause.location));
  }
  if (node.limitOption === 'LIMIT_OPTION_WITH_TIES')
    throw notSupported('WITH TIES is not supported. Use LIMIT.', 'WITH TIES');
  const count = (value: Node | undefined, what: string) =>
    value === undefined || ('A_Const' in value && value.A_Const.isnull) ? null : wholeNumber(value, what);
  return {
    with: (node.withClause?.ctes ?? []).map((cte) => readCte(cte, read)),
    order: readOrder(node.sortClause, read),
    limit: count(node.limitCount, 'LIMIT'),
    offset: count(node.limitOffset, 'OFFSET'),
  };
};

const setOperators: Partial<Record<string, 'union' | 'intersect' | 'except'>> = {
  SETOP_UNION: 'union',
  SETOP_INTERSECT: 'intersect',
  SETOP_EXCEPT: 'except',
};

/** `SELECT DISTINCT` is one empty node; `DISTINCT ON` has expressions. */
const isDistinct = (node: SelectStmt): boolean => {
  if (!node.distinctClause) return false;
  if (node.distinctClause.some((each) => Object.keys(each).length > 0))
    throw notSupported('DISTINCT ON is not supported.', 'DISTINCT ON');
  return true;
};

const readQuery = (node: SelectStmt, at: Parsed['at']): Query => {
  if (node.valuesLists) throw notASelect('VALUES');
  if (node.intoClause) throw notASelect('SELECT INTO');
  if (node.lockingClause) throw notSupported('FOR UPDATE and FOR SHARE are not supported.', 'FOR UPDATE');
  const operator = setOperators[node.op ?? ''];
  if (operator) {
    only(operator.toUpperCase(), node, [...selectKeys, 'all', 'larg', 'rarg']);
    const read = readerFor(at, new Map());
    return {
      kind: 'set',
      operator,
      all: node.all ?? false,
      left: readQuery(node.larg!, at),
      right: readQuery(node.rarg!, at),
      ...readTail(node, read),
    };
  }
  only('SELECT', node, selectKeys);
  if (!node.targetList) throw notSupported('A SELECT needs at least one column.', 'SELECT');
  const windows: Windows = new Map();
  for (const each of node.windowClause ?? []) {
    if ('WindowDef' in each && each.WindowDef.name !== undefined)
      windows.set(each.WindowDef.name, each.WindowDef);
  }
  const read = readerFor(at, windows);
  const group = (node.groupClause ?? []).map((each): Expression => {
    if ('GroupingSet' in each)
      throw notSupported(
        'GROUPING SETS, ROLLUP and CUBE are not supported.',
        'GROUP BY',
        read.at(each.GroupingSet.location),
      );
    return read.expression(each);
  });
  return {
    kind: 'select',
    distinct: isDistinct(node),
    outputs: node.targetList.map((each) => readOutput(each, read)),
    from: (node.fromClause ?? []).map((each) => readFrom(each, read)),
    where: node.whereClause ? read.expression(node.whereClause) : null,
    group,
    having: node.havingClause ? read.expression(node.havingClause) : null,
    ...readTail(node, read),
  };
};

/**
 * One SELECT in PostgreSQL's grammar, as a tree. Throws SqlRefusal for all that is not accepted: what it holds is
 * known to have a printer, its names are not resolved yet.
 */
export const parseSelect = (text: string): Query => {
  const { statement, at } = parseStatement(text);
  if (!('SelectStmt' in statement)) throw notASelect(opened(statement)[0].replace(/Stmt$/, ''), 1);
  return readQuery(statement.SelectStmt, at);
};

/**
 * One expression, as fields and metrics of models have them. Positions count from the expression's first character.
 * Throws SqlRefusal.
 */
export const parseExpression = (text: string): Expression => {
  // A comment at its end would swallow what follows on the same line.
  const { statement, at } = parseStatement(`${text}\n`, 'SELECT ');
  const query = 'SelectStmt' in statement ? statement.SelectStmt : undefined;
  const [target, second] = query?.targetList ?? [];
  const alone = query && target && !second && 'ResTarget' in target && target.ResTarget.name === undefined;
  if (
    !alone ||
    Object.keys(query).some((key) => !['targetList', 'limitOption', 'op'].includes(key)) ||
    query.op !== 'SETOP_NONE'
  )
    throw new SqlRefusal(
      'syntax_error',
      'This is not one expression. Write it without SELECT, FROM and AS.',
      {
        position: 1,
      },
    );
  return readerFor(at, new Map()).expression(target.ResTarget.val);
};
