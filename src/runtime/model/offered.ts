import { pause } from '../../lib/pause.ts';
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

/** Schemas that tool servers made for it take milliseconds each, and a request can have thousands of tools. */
const toolsBetweenPauses = 5;

/**
 * The tools of a request as the endpoint takes them. One that it would refuse is left out, because the endpoint would
 * refuse the whole request for it.
 */
export const offeredTools = async (
  { kind, api }: { kind: EndpointKind; api?: 'responses' | 'chat_completions' },
  tools: Tools,
): Promise<Offered> => {
  const notes: string[] = [];
  const fit: Tools[number][] = [];
  for (const [place, tool] of tools.entries()) {
    if (place % toolsBetweenPauses === toolsBetweenPauses - 1) await pause();
    const { schema, fault } = fitSchema(tool.inputSchema, kind);
    if (fault === undefined) {
      const description = api === 'chat_completions' ? cut(tool.description) : tool.description;
      fit.push({ ...tool, description, inputSchema: schema });
    } else notes.push(`The model does not get the tool ${tool.name}: ${fault}.`);
  }
  const { mostTools = fit.length } = rulesOf[kind];
  for (const { name } of fit.slice(mostTools)) {
    notes.push(`The model does not get the tool ${name}: a request has at most ${mostTools} tools.`);
  }
  return { tools: fit.slice(0, mostTools), notes };
};
