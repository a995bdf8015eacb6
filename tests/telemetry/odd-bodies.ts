const traceId = '5b8efff798038103d269b633813fc60c';
const spanId = 'eee19b7ec3c1b174';
const agent = { key: 'gen_ai.agent.id', value: { stringValue: 'odd' } };

const withSpan = (span: object, resource: object = { attributes: [agent] }): object => ({
  resourceSpans: [
    { resource, scopeSpans: [{ scope: { name: 's' }, spans: [{ traceId, spanId, name: 'x', ...span }] }] },
  ],
});
const withValue = (value: object): object => withSpan({ attributes: [{ key: 'v', value }] });

/** OTLP/JSON that is valid, each in a way that is easy to get wrong. One span each. */
export const oddJson: Record<string, object> = {
  'an integer as a number': withValue({ intValue: 42 }),
  'an integer as text': withValue({ intValue: '42' }),
  'the largest integer': withValue({ intValue: '9223372036854775807' }),
  'the smallest integer': withValue({ intValue: '-9223372036854775808' }),
  'a double that is whole': withValue({ doubleValue: 3 }),
  'a double as text': withValue({ doubleValue: '0.1' }),
  infinity: withValue({ doubleValue: 'Infinity' }),
  'bytes in base64': withValue({ bytesValue: 'AAEC/w==' }),
  'an empty string': withValue({ stringValue: '' }),
  false: withValue({ boolValue: false }),
  'an empty list': withValue({ arrayValue: {} }),
  'lists in lists': withValue({
    arrayValue: { values: [{ arrayValue: { values: [{ intValue: '1' }] } }, { stringValue: 'a' }] },
  }),
  'a map': withValue({ kvlistValue: { values: [{ key: 'k', value: { boolValue: true } }] } }),
  'no value at all': withValue({}),
  'times as text and as numbers': withSpan({
    startTimeUnixNano: '1700000000123456789',
    endTimeUnixNano: 1_700_000_001,
  }),
  'kind, status, flags and counts': withSpan({
    kind: 3,
    status: { code: 2, message: 'm' },
    flags: 257,
    droppedAttributesCount: 4,
    droppedEventsCount: 5,
    droppedLinksCount: 6,
    traceState: 'a=b',
    parentSpanId: '0102030405060708',
  }),
  'events and links': withSpan({
    events: [{ timeUnixNano: '5', name: 'e', attributes: [agent], droppedAttributesCount: 1 }],
    links: [{ traceId, spanId, traceState: 'c=d', attributes: [agent], flags: 1 }],
  }),
  'ids in capitals': withSpan({ traceId: traceId.toUpperCase(), spanId: spanId.toUpperCase() }),
  'unknown fields': withSpan({ unknown: [{ a: 1 }], attributes: [] }),
  'null for what is left out': withSpan({ attributes: null, events: null, status: null }),
  'text beyond ASCII': withSpan({ name: 'zwölf 🥊 "quoted" \\ \u0001' }),
  'entities of the resource': withSpan(
    {},
    {
      attributes: [agent],
      droppedAttributesCount: 2,
      entityRefs: [{ schemaUrl: 'u', type: 'service', idKeys: ['a', 'b'], descriptionKeys: ['c'] }, {}],
    },
  ),
};

export interface OddRequest {
  contentType?: string;
  contentEncoding?: string;
  method?: string;
  body: string | Uint8Array;
}

const json = (value: unknown): OddRequest => ({
  contentType: 'application/json',
  body: JSON.stringify(value),
});
export const validJson = JSON.stringify(withSpan({}));

/** Unusual OTLP/HTTP requests. The oracle says what is right. */
export const oddRequests: Record<string, OddRequest> = {
  'an empty protobuf body': { contentType: 'application/x-protobuf', body: '' },
  'an empty JSON body': { contentType: 'application/json', body: '' },
  'an empty object': json({}),
  'no resource spans': json({ resourceSpans: [] }),
  'an array': json([]),
  text: json('x'),
  null: json(null),
  'JSON that breaks off': { contentType: 'application/json', body: validJson.slice(0, -3) },
  'something after the JSON': { contentType: 'application/json', body: `${validJson}x` },
  'resourceSpans that is not a list': json({ resourceSpans: {} }),
  'a span that is text': json({ resourceSpans: [{ scopeSpans: [{ spans: ['x'] }] }] }),
  'a name that is a number': json(withSpan({ name: 7 })),
  'an id with an odd digit': json(withSpan({ spanId: `${spanId}0` })),
  'an id that is not hex': json(withSpan({ spanId: 'zzzzzzzzzzzzzzzz' })),
  'an id of zeros': json(withSpan({ spanId: '0000000000000000' })),
  'a kind by name': json(withSpan({ kind: 'SPAN_KIND_SERVER' })),
  'an integer with a fraction': json(withValue({ intValue: 1.5 })),
  'an integer that is too large': json(withValue({ intValue: '9223372036854775808' })),
  'bytes that are not base64': json(withValue({ bytesValue: '*' })),
  'two values at once': json(withValue({ stringValue: 'a', intValue: '1' })),
  'protobuf that breaks off': {
    contentType: 'application/x-protobuf',
    body: Buffer.from([0x0a, 0x05, 0x12]),
  },
  'protobuf that is noise': {
    contentType: 'application/x-protobuf',
    body: Buffer.from('this is no protobuf'),
  },
  'a content type with a charset': { contentType: 'application/json; charset=utf-8', body: validJson },
  'a content type in capitals': { contentType: 'Application/JSON', body: validJson },
  'no content type': { body: validJson },
  'plain text': { contentType: 'text/plain', body: validJson },
  'an encoding that is unknown': {
    contentType: 'application/json',
    contentEncoding: 'compress',
    body: validJson,
  },
  'a body that is not gzip': { contentType: 'application/json', contentEncoding: 'gzip', body: validJson },
  GET: { method: 'GET', contentType: 'application/json', body: '' },
  PUT: { method: 'PUT', contentType: 'application/json', body: validJson },
};
