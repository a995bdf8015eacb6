import type { A_Const, A_Expr, CaseExpr, Node, SQLValueFunction, SubLink, TypeCast } from 'libpg-query';
import { notSupported, SqlRefusal } from '../refusal.ts';
import type { ArithmeticOperator, CompareOperator, Expression } from '../tree.ts';
import {
  booleanConstant,
  intervalOf,
  nullConstant,
  numberConstant,
  temporalConstant,
  textConstant,
} from '../values.ts';
import { readCall, type Windows } from './calls.ts';
import { functionNotAllowed, namesOf, only, opened, type Reader } from './read.ts';
import { modifiersOf, readType, typeNameOf } from './types.ts';

const compares = new Set(['=', '<>', '<', '<=', '>', '>=']);
const arithmetics = new Set(['+', '-', '*', '/', '%']);

const readConstant = (node: A_Const, at: number | undefined): Expression => {
  if (node.isnull) return { ...nullConstant, at };
  if (node.boolval) return { ...booleanConstant(node.boolval.boolval ?? false), at };
  if (node.sval) return { ...textConstant(node.sval.sval ?? ''), at };
  const digits = node.ival ? String(node.ival.ival ?? 0) : node.fval?.fval;
  const number = digits === undefined ? null : numberConstant(digits);
  if (!number)
    throw notSupported('This constant is not supported. Write a plain number or quoted text.', digits, at);
  return { ...number, at };
};

const operatorOf = (node: A_Expr, at: number | undefined): string => {
  const names = namesOf(node.name);
  if (names.length !== 1)
    throw notSupported('An operator with a schema is not supported.', `OPERATOR(${names.join('.')})`, at);
  return names[0]!;
};

const itemsOf = (node: Node | undefined): Node[] => (node && 'List' in node ? (node.List.items ?? []) : []);

/** The pattern with `\` as its escape character. */
const readPattern = (node: Node | undefined, read: Reader, at: number | undefined): Expression => {
  if (!node || !('FuncCall' in node) || namesOf(node.FuncCall.funcname).at(-1) !== 'like_escape') {
    const pattern = read.expression(node);
    if (pattern.kind === 'constant' && /(^|[^\\])(\\\\)*\\$/.test(String(pattern.value)))
      throw notSupported('A pattern cannot end with `\\`.', 'LIKE', at);
    return pattern;
  }
  const [pattern, mark] = (node.FuncCall.args ?? []).map(read.expression);
  const sign = mark?.kind === 'constant' ? mark.value : null;
  if (pattern?.kind !== 'constant' || typeof pattern.value !== 'string' || typeof sign !== 'string')
    throw notSupported('ESCAPE needs a pattern and a character written as text.', 'ESCAPE', at);
  if ([...sign].length !== 1) throw notSupported('ESCAPE needs one character.', 'ESCAPE', at);
  let escaped = '';
  const characters = [...pattern.value];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i]!;
    if (character === sign) {
      const next = characters[++i];
      if (next === undefined) throw notSupported('A pattern cannot end with its ESCAPE.', 'LIKE', at);
      escaped += `\\${next}`;
    } else escaped += character === '\\' ? '\\\\' : character;
  }
  return { ...textConstant(escaped), at: pattern.at };
};

const readOperator = (node: A_Expr, read: Reader, at: number | undefined): Expression => {
  only('operator', node, ['kind', 'name', 'lexpr', 'rexpr'], at);
  const operator = operatorOf(node, at);
  const left = () => read.expression(node.lexpr);
  const right = () => read.expression(node.rexpr);
  switch (node.kind) {
    case 'AEXPR_OP': {
      if (!node.lexpr) {
        if (operator === '+') return right();
        if (operator === '-') return { kind: 'negate', arg: right(), at };
      } else if (compares.has(operator))
        return { kind: 'compare', operator: operator as CompareOperator, left: left(), right: right(), at };
      else if (arithmetics.has(operator))
        return {
          kind: 'arithmetic',
          operator: operator as ArithmeticOperator,
          left: left(),
          right: right(),
          at,
        };
      else if (operator === '||') return { kind: 'call', name: '||', args: [left(), right()], at };
      break;
    }
    case 'AEXPR_LIKE':
    case 'AEXPR_ILIKE': {
      const ignoreCase = node.kind === 'AEXPR_ILIKE';
      const not = operator.startsWith('!');
      return { kind: 'like', arg: left(), pattern: readPattern(node.rexpr, read, at), ignoreCase, not, at };
    }
    case 'AEXPR_BETWEEN':
    case 'AEXPR_NOT_BETWEEN': {
      const [low, high] = itemsOf(node.rexpr).map(read.expression) as [Expression, Expression];
      return { kind: 'between', arg: left(), low, high, not: node.kind === 'AEXPR_NOT_BETWEEN', at };
    }
    case 'AEXPR_IN':
      return {
        kind: 'in',
        arg: left(),
        items: itemsOf(node.rexpr).map(read.expression),
        not: operator === '<>',
        at,
      };
    case 'AEXPR_NULLIF':
      return { kind: 'call', name: 'nullif', args: [left(), right()], at };
    case 'AEXPR_DISTINCT':
    case 'AEXPR_NOT_DISTINCT':
      return {
        kind: 'distinct_from',
        left: left(),
        right: right(),
        not: node.kind === 'AEXPR_NOT_DISTINCT',
        at,
      };
  }
  throw notSupported(`The operator \`${operator}\` is not supported.`, operator, at);
};

const readCase = (node: CaseExpr, read: Reader, at: number | undefined): Expression => {
  only('CASE', node, ['arg', 'args', 'defresult'], at);
  return {
    kind: 'case',
    operand: node.arg ? read.expression(node.arg) : null,
    whens: (node.args ?? []).map((when) => {
      if (!('CaseWhen' in when)) throw notSupported('This CASE is not supported.', 'CASE', at);
      return { when: read.expression(when.CaseWhen.expr), result: read.expression(when.CaseWhen.result) };
    }),
    otherwise: node.defresult ? read.expression(node.defresult) : null,
    at,
  };
};

/** Bits of the fields of `interval '1' month`. */
const intervalFields: Record<number, string> = {
  2: 'month',
  4: 'year',
  8: 'day',
  1024: 'hour',
  2048: 'minute',
  4096: 'second',
};

const readCast = (node: TypeCast, read: Reader): Expression => {
  only('CAST', node, ['arg', 'typeName']);
  const type = node.typeName!;
  const at = read.at(node.location) ?? read.at(type.location);
  const literal = node.arg && 'A_Const' in node.arg ? node.arg.A_Const.sval : undefined;
  const text = literal === undefined ? null : (literal.sval ?? '');
  if (typeNameOf(type) === 'interval') {
    only('interval', type, ['names', 'typmods', 'typemod'], at);
    const [fields, ...more] = modifiersOf(type);
    const unit = fields === undefined ? null : intervalFields[fields];
    const interval = text === null || unit === undefined || more.length > 0 ? null : intervalOf(text, unit);
    if (!interval)
      throw notSupported(
        "Write an interval as text with whole numbers: `INTERVAL '1 month 3 days'`.",
        'interval',
        at,
      );
    return { ...interval, at };
  }
  const to = readType(type, at);
  const moment = ['Date', 'Time', 'DateTime', 'DateTimeTz'].includes(to.type);
  if (text !== null && moment) {
    const value = temporalConstant(text, to.type);
    if (!value)
      throw notSupported(
        `\`${text.slice(0, 50)}\` is no ${to.type}. Write it in ISO form: 2026-01-31 10:00:00.`,
        text.slice(0, 50),
        at,
      );
    return { ...value, at };
  }
  return { kind: 'cast', arg: read.expression(node.arg), to, at };
};

const readSublink = (node: SubLink, read: Reader, at: number | undefined): Expression => {
  only('subquery', node, ['subLinkType', 'testexpr', 'operName', 'subselect'], at);
  const query = () => read.query(node.subselect);
  switch (node.subLinkType) {
    case 'EXISTS_SUBLINK':
      return { kind: 'exists', query: query(), at };
    case 'EXPR_SUBLINK':
      return { kind: 'query', query: query(), at };
    case 'ANY_SUBLINK':
      if (node.operName === undefined || namesOf(node.operName).join('.') === '=')
        return { kind: 'in_query', arg: read.expression(node.testexpr), query: query(), not: false, at };
  }
  throw notSupported('This subquery is not supported. Use EXISTS, IN or one value.', null, at);
};

const readValue = (node: SQLValueFunction, at: number | undefined): Expression => {
  const call = (name: string): Expression => ({ kind: 'call', name, args: [], at });
  switch (node.op) {
    case 'SVFOP_CURRENT_DATE':
      return call('current_date');
    case 'SVFOP_CURRENT_TIMESTAMP':
    case 'SVFOP_CURRENT_TIMESTAMP_N':
      return call('current_timestamp');
    case 'SVFOP_LOCALTIMESTAMP':
    case 'SVFOP_LOCALTIMESTAMP_N':
      return call('localtimestamp');
    case 'SVFOP_CURRENT_TIME':
    case 'SVFOP_CURRENT_TIME_N':
    case 'SVFOP_LOCALTIME':
    case 'SVFOP_LOCALTIME_N':
      return call('localtime');
  }
  throw functionNotAllowed(String(node.op).replace('SVFOP_', '').toLowerCase(), at);
};

const booleanTests: Record<string, { value: boolean | null; not: boolean }> = {
  IS_TRUE: { value: true, not: false },
  IS_NOT_TRUE: { value: true, not: true },
  IS_FALSE: { value: false, not: false },
  IS_NOT_FALSE: { value: false, not: true },
  IS_UNKNOWN: { value: null, not: false },
  IS_NOT_UNKNOWN: { value: null, not: true },
};

/** Forms of the grammar that are not supported, in the words of its users. */
const shown: Record<string, string> = {
  A_ArrayExpr: 'An array',
  A_Indirection: 'A field of a row, or an element of an array,',
  CollateClause: 'COLLATE',
  GroupingFunc: 'GROUPING',
  ParamRef: 'A parameter such as $1',
  RowExpr: 'A row of several values',
  SetToDefault: 'DEFAULT',
};

export const readExpression = (node: Node | undefined, windows: Windows, read: Reader): Expression => {
  if (!node) throw notSupported('The SQL has an empty expression.');
  const [type, value] = opened(node);
  const at = read.at((value as { location?: number }).location);
  if ('ColumnRef' in node) {
    const fields = node.ColumnRef.fields ?? [];
    if (fields.some((field) => 'A_Star' in field))
      throw notSupported('`*` can only stand alone in a SELECT or in count(*).', '*', at);
    const names = namesOf(fields);
    if (names.length > 2)
      throw new SqlRefusal(
        'unknown_column',
        `The column \`${names.join('.')}\` does not exist. Write \`table.column\`.`,
        {
          name: names.join('.'),
          position: at ?? null,
        },
      );
    const [table, name] = names.length === 2 ? (names as [string, string]) : [null, names[0]!];
    return { kind: 'column', table, name, at };
  }
  if ('A_Const' in node) return readConstant(node.A_Const, at);
  if ('A_Expr' in node) return readOperator(node.A_Expr, read, at);
  if ('FuncCall' in node) return readCall(node.FuncCall, windows, read);
  if ('CaseExpr' in node) return readCase(node.CaseExpr, read, at);
  if ('TypeCast' in node) return readCast(node.TypeCast, read);
  if ('SubLink' in node) return readSublink(node.SubLink, read, at);
  if ('SQLValueFunction' in node) return readValue(node.SQLValueFunction, at);
  if ('BoolExpr' in node) {
    only('condition', node.BoolExpr, ['boolop', 'args'], at);
    const args = (node.BoolExpr.args ?? []).map(read.expression);
    if (node.BoolExpr.boolop === 'NOT_EXPR') return { kind: 'not', arg: args[0]!, at };
    return { kind: node.BoolExpr.boolop === 'OR_EXPR' ? 'or' : 'and', args, at };
  }
  if ('NullTest' in node) {
    only('IS NULL', node.NullTest, ['arg', 'nulltesttype'], at);
    return {
      kind: 'is_null',
      arg: read.expression(node.NullTest.arg),
      not: node.NullTest.nulltesttype === 'IS_NOT_NULL',
      at,
    };
  }
  if ('BooleanTest' in node) {
    only('IS', node.BooleanTest, ['arg', 'booltesttype'], at);
    return {
      kind: 'is_boolean',
      arg: read.expression(node.BooleanTest.arg),
      ...booleanTests[node.BooleanTest.booltesttype!]!,
      at,
    };
  }
  if ('CoalesceExpr' in node) {
    only('COALESCE', node.CoalesceExpr, ['args'], at);
    return { kind: 'call', name: 'coalesce', args: (node.CoalesceExpr.args ?? []).map(read.expression), at };
  }
  if ('MinMaxExpr' in node) {
    only('GREATEST', node.MinMaxExpr, ['op', 'args'], at);
    const name = node.MinMaxExpr.op === 'IS_LEAST' ? 'least' : 'greatest';
    return { kind: 'call', name, args: (node.MinMaxExpr.args ?? []).map(read.expression), at };
  }
  throw notSupported(`${shown[type] ?? `\`${type}\``} is not supported.`, type, at);
};
