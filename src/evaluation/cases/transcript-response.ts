/** The response of an operation that returns a transcript. */
export const transcriptDocument = {
  responses: {
    200: {
      description: 'The transcript.',
      content: {
        'application/json': {
          schema: {
            type: 'array',
            items: {
              type: 'object',
              required: ['role', 'content'],
              properties: { role: { type: 'string' }, content: { type: 'array', items: { type: 'object' } } },
            },
          },
        },
      },
    },
  },
};

/** A transcript, byte for byte. */
export const transcriptResponse = (transcript: string): Response =>
  new Response(transcript, { headers: { 'content-type': 'application/json; charset=utf-8' } });
