import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromJson } from './json.ts';
import { exportResponse, partialSuccess, statusBody } from './messages.ts';
import { scan } from './wire.ts';

test('partial_success is read as it was written, in both encodings', () => {
  for (const [encoding, contentType] of [
    ['protobuf', 'application/x-protobuf'],
    ['json', 'application/json; charset=utf-8'],
  ] as const) {
    expect(partialSuccess(contentType, exportResponse(encoding, 0, ''))).toEqual({
      rejected: 0,
      message: '',
    });
    expect(partialSuccess(contentType, exportResponse(encoding, 300, 'too old'))).toEqual({
      rejected: 300,
      message: 'too old',
    });
  }
  expect(JSON.parse(statusBody('json', 415, 'no').toString())).toEqual({ code: 3, message: 'no' });
  expect([...statusBody('protobuf', 503, 'no')]).toEqual([8, 14, 18, 2, 0x6e, 0x6f]);
});

test('no bytes from outside make the readers throw, hang or count below zero', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.json(), (bytes, json) => {
      const body = Buffer.from(bytes);
      for (const [type, from] of [
        ['application/x-protobuf', body],
        ['application/json', body],
        ['application/json', Buffer.from(json)],
        [undefined, body],
      ] as const) {
        expect(partialSuccess(type, from).rejected).toBeGreaterThanOrEqual(0);
      }
      scan(body);
      fromJson(body);
      fromJson(Buffer.from(`{"resourceSpans":${json}}`));
      fromJson(Buffer.from(`{"resourceSpans":[{"resource":${json},"scopeSpans":[{"spans":[${json}]}]}]}`));
    }),
    { numRuns: 1_000 },
  );
});
