import type { StepRequest } from '../step.ts';
import { type EndpointKind, fitSchema, rulesOf } from './schemas/fit.ts';

type Tools = StepRequest['tools'];

/** The tools that a model of a kind gets, and for each that it does not get, why. */
export interface Offered {
  tools: Tools;
  notes: string[];
}

/** The most characters of a tool's description in OpenAI's chat completions. */
const maxDescription = 1_024;

const cut = (text: string): string => {
  const characters = [...text];
  return characters.length <= maxDescription ? text : `${characters.slice(0, maxDescription - 1).join('')}…`;
};

/**
 * The tools of a request as the endpoint takes them. One that it would refuse is left out, because the endpoint would
 * refuse the whole request for it.
 */
export const offeredTools = (
  { kind, api }: { kind: EndpointKind; api?: 'responses' | 'chat_completions' },
  tools: Tools,
): Offered => {
  const notes: string[] = [];
  const fit = tools.flatMap((tool) => {
    const { schema, fault } = fitSchema(tool.inputSchema, kind);
    if (fault === undefined) {
      const description = api === 'chat_completions' ? cut(tool.description) : tool.description;
      return [{ ...tool, description, inputSchema: schema }];
    }
    notes.push(`The model does not get the tool ${tool.name}: ${fault}.`);
    return [];
  });
  const { mostTools = fit.length } = rulesOf[kind];
  for (const { name } of fit.slice(mostTools)) {
    notes.push(`The model does not get the tool ${name}: a request has at most ${mostTools} tools.`);
  }
  return { tools: fit.slice(0, mostTools), notes };
};
