import { rm } from 'node:fs/promises';
import type { z } from 'zod';
import { type Context, runHandler } from './context.ts';
import { type BodySpec, bodySpecOf, findFor, readGiven } from './given.ts';
import { bodyDocument, describeOperation, jsonResponses } from './operation-document.ts';
import { type Find, type Json, type Operation, type Route, routeOf } from './route.ts';
import { type Responses, responseOf, sendJson } from './send-json.ts';
import { isForm, readUpload, type Upload, type UploadSpec, uploadBody } from './upload.ts';

export interface UploadContext<F = unknown, B = unknown> extends Context<F, undefined> {
  /** The file of the form. A route with `body` too checks which of them there is. */
  upload: Upload;
  body: B;
  /** Makes the response a 202: the work goes on after it. The route has the responses 200 and 202. */
  accepted(): void;
}

/** An operation that takes a form with a file, which is on the disk when the handler begins. */
interface UploadOperation<F, B extends z.ZodType, A extends z.ZodType> extends Operation {
  find?: Find<F>;
  /** No transaction is open until the whole file is there. */
  upload: UploadSpec;
  /** JSON that is taken instead of the form. */
  body?: B | BodySpec<B>;
  response: Responses<A>;
  handler: (context: UploadContext<F, z.output<B>>) => Promise<z.input<A>>;
}

const formDocument = (form: UploadSpec, spec: BodySpec | undefined, components: Json): Json => {
  const document = uploadBody(form) as { required: boolean; content: Json };
  return spec ? (bodyDocument(spec, components, document.content).requestBody as Json) : document;
};

export const uploadRoute = <
  F = undefined,
  B extends z.ZodType = z.ZodType<undefined>,
  A extends z.ZodType = z.ZodType,
>(
  operation: UploadOperation<F, B, A>,
): Route => {
  const { find, upload: form, response } = operation;
  const spec = bodySpecOf(operation.body as z.ZodType | BodySpec | undefined);
  const { status: success, schema } = responseOf(response);
  return routeOf(operation, {
    ...(find && { find }),
    body: { upload: spec ? 'formOrJson' : 'form' },
    serve: async (call) => {
      const { request, reply } = call;
      const found = await findFor(find, request);
      const isUpload = !spec || isForm(request.headers['content-type']);
      const { body } = await readGiven(undefined, isUpload ? undefined : spec, request);
      const upload = isUpload ? await readUpload(request.raw, form) : undefined;
      let status = success;
      const accepted = () => {
        status = 202;
      };
      const { result } = await runHandler<UploadContext<F, z.output<B>>, z.input<A>>(
        call,
        { found, query: undefined },
        { upload, body, accepted } as never,
        operation.handler,
      ).finally(() => upload && rm(upload.path, { force: true }));
      reply.code(status);
      await sendJson(operation, schema!.parse(result), call);
    },
    describe: (components, tags) =>
      describeOperation(operation, tags, {
        requestBody: formDocument(form, spec, components),
        success: jsonResponses(response, null, components),
        failures: spec ? [422] : [],
      }),
  });
};
