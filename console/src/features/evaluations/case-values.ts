import { ApiProblem, type Body } from '../../api/index.ts';
import type { PublicCase, Tape } from '../../api/types.gen.ts';
import { jsonText, readObject, readValue, valueText } from '../../resource/index.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { toGraderBodies, toGraderValues } from './graders.ts';

export const toValues = (one: PublicCase) => ({
  message: one.input.message,
  /** JSON, or empty. */
  payload: jsonText(one.input.payload),
  expected: valueText(one.expected),
  recording: one.tape?.messages ?? null,
  graders: toGraderValues(one.graders),
  name: one.name,
  tags: one.tags.join(', '),
  enabled: one.enabled,
});

export type CaseValues = ReturnType<typeof toValues>;

const typedPayload = (text: string): Record<string, unknown> => {
  const payload = text.trim() === '' ? {} : readObject(text);
  if (payload !== null) return payload;
  throw new ApiProblem(422, { details: [{ path: 'payload', message: words.notObject }] });
};

/** Returns the fields that differ from `before`. A recording that is not sent keeps what its provider gave. */
export const toBody = (values: CaseValues, before: CaseValues): Body<'updateCase'> => {
  const changed = (name: keyof CaseValues): boolean =>
    JSON.stringify(values[name]) !== JSON.stringify(before[name]);
  const input = {
    ...(changed('message') && { message: values.message }),
    ...(changed('payload') && { payload: typedPayload(values.payload) }),
  };
  return {
    ...(Object.keys(input).length > 0 && { input }),
    ...(changed('expected') && { expected: readValue(values.expected) }),
    ...(changed('recording') && values.recording && { tape: { messages: values.recording } }),
    ...(changed('graders') && { graders: toGraderBodies(values.graders) }),
    ...(changed('name') && { name: values.name }),
    ...(changed('tags') && {
      tags: values.tags
        .split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== ''),
    }),
    ...(changed('enabled') && { enabled: values.enabled }),
  };
};

type Messages = Tape['messages'];

/** The messages with one result changed: the one of this call. */
export const withResult = (
  messages: Messages,
  callId: string,
  patch: { text: string; is_error: boolean },
): Messages =>
  messages.map((message) => ({
    ...message,
    content: message.content.map((part) =>
      part.type === 'tool_result' && part.tool_call_id === callId ? { ...part, ...patch } : part,
    ),
  }));
