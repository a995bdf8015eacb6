import { expect, test } from 'vitest';
import { cutParts, rawContent, shownBytes } from './content.ts';
import { textPart } from './messages.ts';

const call = (args: unknown) => ({
  type: 'tool_call' as const,
  tool_call_id: 'c',
  tool_name: 't',
  arguments: args,
});

test('a content of 16 KB is whole, and of a longer one the beginning is left, in whole characters', () => {
  const whole = cutParts([textPart('x'.repeat(shownBytes))]);
  expect(whole).toEqual({ content: [textPart('x'.repeat(shownBytes))], cut: false });
  const euros = cutParts([textPart('€'.repeat(shownBytes))]);
  expect(euros).toEqual({ content: [{ ...textPart('€'.repeat(5_461)), cut: true }], cut: true });
  const emoji = cutParts([textPart(`x${'😀'.repeat(5_000)}`)]);
  expect(emoji.content[0]).toMatchObject({ text: `x${'😀'.repeat(4_095)}`, cut: true });
});

test('parts share the 16 KB; arguments that are cut are the beginning of their JSON', () => {
  const { content, cut } = cutParts([
    textPart('y'.repeat(shownBytes - 10)),
    call({ a: 'long enough' }),
    textPart('z'),
  ]);
  expect(cut).toBe(true);
  expect(content).toEqual([
    textPart('y'.repeat(shownBytes - 10)),
    { ...call('{"a":"long'), cut: true },
    { ...textPart(''), cut: true },
  ]);
});

test('a single text is downloaded as it is, anything else as JSON without what is not shown', () => {
  expect(rawContent([textPart('a\n"b"')])).toEqual({ type: 'text/plain', text: 'a\n"b"' });
  const result = {
    type: 'tool_result' as const,
    tool_call_id: 'c',
    tool_name: 't',
    text: 'r',
    is_error: false,
  };
  expect(rawContent([result])).toEqual({ type: 'text/plain', text: 'r' });
  const raw = rawContent([textPart('a'), { ...call({ b: 1 }), fault: 'hidden' }]);
  expect([raw.type, JSON.parse(raw.text)]).toEqual(['application/json', [textPart('a'), call({ b: 1 })]]);
  expect(rawContent([]).text).toBe('[]');
});
