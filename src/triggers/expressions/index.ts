export type { Judgement } from './evaluate.ts';
export type { ExpressionFields } from './fields.ts';
export { judge } from './judge.ts';
export { expressionProblems } from './problems.ts';
