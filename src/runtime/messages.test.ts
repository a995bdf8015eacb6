import { describe, expect, it } from 'vitest';
import { storable } from '../lib/storable.ts';
import { toParts } from '../messages/index.ts';
import {
  firstUserMessage,
  fromStored,
  inOrder,
  type Message,
  openCalls,
  splitUserMessage,
  toContent,
} from './messages.ts';

const call = (id: string) => ({ id, name: 'tool', arguments: {} });
const asking = (...ids: string[]): Message => ({ role: 'assistant', text: '', tool_calls: ids.map(call) });
const result = (id: string): Message => ({
  role: 'tool',
  tool_call_id: id,
  tool_name: 'tool',
  text: id,
  is_error: false,
});
const user = (text: string): Message => ({ role: 'user', text });

describe('a conversation', () => {
  it('has as open calls those of its last reply without a result', () => {
    expect(openCalls([user('a'), asking('1'), result('1'), asking('2', '3'), result('2')])).toEqual([
      call('3'),
    ]);
    expect(openCalls([user('a'), asking('1'), result('1')])).toEqual([]);
    expect(openCalls([])).toEqual([]);
  });

  it('puts each result right after its call for models, whatever a person wrote in between', () => {
    const [ask1, ask2] = [asking('1', '2'), asking('3')];
    const stored = [user('a'), ask1, result('1'), user('go on'), result('2'), ask2, result('3'), user('b')];
    expect(inOrder(stored)).toEqual([
      user('a'),
      ask1,
      result('1'),
      result('2'),
      user('go on'),
      ask2,
      result('3'),
      user('b'),
    ]);
  });

  it('separates the message and the payload of a Work Item', () => {
    for (const [message, payload] of [
      ['Do it', { a: 1 }],
      ['', { b: '\n\nPayload (JSON):\n{}' }],
      ['Payload (JSON):\n{"x":1}', {}],
    ] as const) {
      const first = firstUserMessage(message, payload) as { text: string };
      expect(splitUserMessage(first.text)).toEqual({
        message,
        payload: Object.keys(payload).length === 0 ? null : payload,
      });
    }
  });

  it('is the same after it was stored', () => {
    const fault = { ...call('2'), fault: 'the arguments are not valid JSON' };
    const messages: Message[] = [
      { role: 'system', text: 'Be brief.' },
      user('a'),
      user(''),
      { role: 'assistant', text: 'b', tool_calls: [call('1'), fault] },
      asking('3'),
      { role: 'assistant', text: '', tool_calls: [] },
      result('1'),
    ];
    for (const message of messages) {
      expect(fromStored({ role: message.role, content: toContent(message) })).toEqual(message);
    }
  });

  it('is the same when an earlier release stored it', () => {
    const { role: _assistant, ...asked } = asking('1');
    const { role: _tool, ...got } = result('1') as Extract<Message, { role: 'tool' }>;
    expect(fromStored({ role: 'user', content: toParts('a') })).toEqual(user('a'));
    expect(fromStored({ role: 'assistant', content: toParts(asked) })).toEqual(asking('1'));
    expect(fromStored({ role: 'tool', content: toParts(got) })).toEqual(result('1'));
  });

  it('holds only text that the database can store', () => {
    expect(storable('a\u0000b\ud800c😀')).toBe('ab\ufffdc😀');
  });
});
