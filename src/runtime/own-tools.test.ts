import { expect, test } from 'vitest';
import { builtInToolNames } from '../agents/fields.ts';
import { jsonSchemaOf } from '../http/index.ts';
import { silentLogger } from '../lib/log.ts';
import { translationSchema } from '../semantic-data-models/question.ts';
import { createModelTools } from '../semantic-data-models/tools.ts';
import { answerTools } from '../tool-protocol/answer-tools.ts';
import { workItemTools } from '../tool-protocol/work-item-tools.ts';
import { dataTools } from './data-tools.ts';
import { documentTools } from './document-tools.ts';
import { endpointKinds, fitSchema } from './model/schemas/fit.ts';
import { submitResultTool } from './result.ts';
import { builtInTools, define } from './tools.ts';

/** Functions that the tools would call; none is called here. */
const uncalled = <T>(): T => ({}) as T;

const ownTools = [...builtInTools, ...dataTools(uncalled()), ...documentTools(uncalled())];

const modelTools = createModelTools(uncalled())(['01980000-0000-7000-8000-000000000001']).map((tool) =>
  define(tool, tool.schema, () => ({ text: '' })),
);

const schemas: [name: string, schema: Record<string, unknown>][] = [
  ...[...ownTools, ...modelTools].map((tool): [string, Record<string, unknown>] => [
    tool.name,
    tool.inputSchema,
  ]),
  ['answer', translationSchema],
  ['submit_result', submitResultTool({ properties: { total: { type: 'number' } } }).inputSchema],
  ...[...answerTools(uncalled(), silentLogger), ...workItemTools(uncalled())].map(
    (tool): [string, Record<string, unknown>] => {
      // It says which draft it is, which a server of tools may, and a request must not.
      const { $schema: _, ...schema } = jsonSchemaOf(tool.input, 'input') as Record<string, unknown>;
      return [tool.name, schema];
    },
  ),
];

test.each(schemas)('the schema of %s goes to every kind of model as it is', (_name, schema) => {
  for (const kind of endpointKinds) expect(fitSchema(schema, kind)).toEqual({ schema });
});

test('descriptions have at most 1,024 characters', () => {
  for (const { name, description } of [...ownTools, ...modelTools]) {
    expect([name, [...description].length <= 1_024]).toEqual([name, true]);
  }
});

test('the tools that an agent can name are those of the platform', () => {
  expect(ownTools.map(({ name }) => name).sort()).toEqual([...builtInToolNames]);
});
