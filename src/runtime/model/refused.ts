import type { Refused } from '../step.ts';

/**
 * An endpoint or a model that takes no tools, as servers say it. What is wrong with one tool is said of `tools[0]` or
 * `tools.0`, and is not meant.
 */
const noTools: readonly RegExp[] = [
  // vLLM: "auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set.
  /--enable-auto-tool-choice/,
  // llama.cpp: tools param requires --jinja flag. OpenAI: 'tools' is not supported with this model. Servers that check
  // the body: tools: Extra inputs are not permitted. Gateways: tool use not supported.
  /\b(tools?|tool_choice)['"`]? (use )?not (supported|enabled|available|permitted|allowed)\b/i,
  /\b(tools?|tool_choice)\b(?![.[]\d)[^.:;]{0,60}(\brequires? --|\b(is|are|was) (not|disabled)\b|\bunsupported\b)/i,
  /\btools['"\]]*[,:][^.;{}]{0,60}extra inputs are not permitted/i,
  // Gemini: Function calling is not enabled for models/….
  /\b(function|tool)[ _-]?call(ing|s)?\b[^.:;]{0,60}\b(not (supported|enabled|available|permitted|allowed)|unsupported|disabled)\b/i,
  // Ollama: … does not support tools. Bedrock: This model doesn't support tool use. Routers: No endpoints found that
  // support tool use.
  /\b(doesn't|don't|does not|do not|cannot|that) support (the )?['"`]?(tools?\b(?![.[]\d)|(function|tool)[ _-]?(call|use|choice))/i,
  // LiteLLM: … does not support parameters: ['tools'].
  /\b(doesn't|don't|does not|do not) support (the )?param(eter)?s?\b[^.;]{0,60}\b(tools|tool_choice)\b(?![.[]\d)/i,
  // llama.cpp: Unsupported param: tools. Azure: Unrecognized request argument supplied: tools.
  /\b(unsupported|unrecognized|unknown|unexpected)\b[^.;]{0,40}\b(param(eter)?|argument|field|input|key|name)s?\b[^.;]{0,40}\b(tools|tool_choice)\b(?![.[]\d)/i,
];

/** An endpoint that does not take the way in which a reply in JSON was asked for. */
const noOutput = /response_format|response format|json_object|json_schema|json mode|structured output/i;

/** Returns the part of the request that an endpoint does not take, from its message; null if it does not say. */
export const refusedPart = (status: number, said: string): Refused | null => {
  if ([400, 404, 422, 500, 501].includes(status) && noTools.some((pattern) => pattern.test(said)))
    return 'tools';
  return (status === 400 || status === 422) && noOutput.test(said) ? 'output' : null;
};
