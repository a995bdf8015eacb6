import { expect } from 'vitest';
import type { Dialect } from '../../src/data-connections/index.ts';
import { checkModel } from '../../src/semantic-data-models/compiler/document.ts';
import type { SemanticModel } from '../../src/semantic-data-models/ossie.ts';
import { salesModel } from './sales-model.ts';

/** The model of sales with one change, and what the static rules say of it. */

export const postgres: Dialect = { engine: 'postgres', database: 'shop', defaultSchema: 'public' };
export const mysql: Dialect = { engine: 'mysql', database: 'shop', defaultSchema: 'shop' };
export const sqlite: Dialect = { engine: 'sqlite', database: null, defaultSchema: 'main' };

export type Change = (model: SemanticModel) => void;

const changed = (change: Change): SemanticModel => {
  const model = structuredClone(salesModel);
  change(model);
  return model;
};

export const check = (change: Change, dialect = postgres) =>
  checkModel({ semantic_model: changed(change), verified_queries: [] }, dialect);

export const nothing: Change = () => {};
export const field = (m: SemanticModel, i = 2) => m.datasets[0]!.fields![i]!;
export const write = (expression: string, dialect = 'ANSI_SQL') => ({ dialects: [{ dialect, expression }] });

export type FaultCase = [name: string, change: Change, path: string, message: RegExp, dialect?: Dialect];

/** Expects a fault at the path. */
export const expectFault = (change: Change, path: string, message: RegExp, dialect?: Dialect): void => {
  const { faults } = check(change, dialect);
  const fault = faults.find((one) => one.path === path);
  expect(fault, JSON.stringify(faults)).toBeDefined();
  expect(fault!.message).toMatch(message);
};
