import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { badRequest } from '../lib/errors.ts';
import type { Principal } from '../lib/principal.ts';
import { type CallerRequest, type Context, runHandler, type SetHeader } from './context.ts';
import type { ShownFailure } from './failure.ts';
import { readBody, readRaw } from './given.ts';
import { toSchema } from './openapi-schema.ts';
import { describeOperation, jsonResponses, queryParameters } from './operation-document.ts';
import { type Json, type Operation, type Route, routeOf } from './route.ts';
import { sendJson } from './send-json.ts';
import { readForm, validate } from './validate.ts';

export interface SignInContext<Q = unknown, B = unknown> extends Context<undefined, Q> {
  body: B;
  header: SetHeader;
  /** Takes one request from the bucket of a principal whose credential the handler checked; throws 429. */
  limitRate(principal: Principal): void;
}

/** An operation of the application for anyone, that checks who someone is. Nothing may store its response. */
interface SignInOperation<Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>
  extends Omit<Operation, 'role' | 'scope' | 'base'> {
  /** Accepts everything, because a browser is sent with it: text that cannot be stored is no fault. */
  query?: Q;
  /** `form`: it is `application/x-www-form-urlencoded`, with each field once. `largest`: in bytes. */
  body?: { schema: B; largest: number; form?: true };
  response?: A;
  /**
   * The handler checks a credential: its 400s, 401s and 422s count against the address of the caller, so that a valid one
   * is not refused because of those who guess behind the same address. Only the much larger bucket of all such requests
   * of the address comes before the body.
   */
  checksCredential?: boolean;
  /** Throws 403 for a request whose headers forbid it, before anything else of it is read. */
  checkOrigin?: (request: CallerRequest) => void;
  /**
   * The handler redirects a browser (303). Returns the page that it shows for a failure; clients that accept JSON get the
   * error body.
   */
  failurePage?: (failure: ShownFailure) => string;
  handler: (context: SignInContext<z.output<Q>, z.output<B>>) => Promise<z.input<A>>;
}

const formType = 'application/x-www-form-urlencoded';

/** Reads the body, or the fields of the form. */
const readGivenBody = async (
  spec: { schema: z.ZodType; form?: true } | undefined,
  request: FastifyRequest,
): Promise<unknown> => {
  if (!spec?.form) return readBody(spec, readRaw(spec, request), request.principal!);
  const fields = readForm(request.body as Buffer | undefined, request.headers['content-type']);
  if (!fields) throw badRequest(`A form is required, with Content-Type: ${formType}.`);
  return validate(spec.schema, fields.value, 'body');
};

const successOf = (redirects: boolean, response: z.ZodType | undefined, components: Json): Json => {
  if (redirects) return { 303: { description: 'A redirect, no body.' } };
  return response ? jsonResponses(response, null, components) : { 200: { description: 'Success.' } };
};

export const signInRoute = <
  Q extends z.ZodType = z.ZodType<undefined>,
  B extends z.ZodType = z.ZodType<undefined>,
  A extends z.ZodType = z.ZodType,
>(
  spec: SignInOperation<Q, B, A>,
): Route => {
  const { query, body, response, checksCredential = false, checkOrigin, failurePage, handler } = spec;
  const operation: Operation = { ...spec, role: 'anyone', scope: null, base: 'app' };
  return routeOf(operation, {
    admission: { noStore: true, checksCredential, ...(checkOrigin && { checkOrigin }) },
    body: { largest: body?.largest },
    isRedirect: failurePage !== undefined,
    failurePage,
    serve: async (call) => {
      const { request, reply, limitRate } = call;
      const given = await readGivenBody(body, request);
      const { result } = await runHandler<SignInContext<z.output<Q>, z.output<B>>, z.input<A>>(
        call,
        { found: undefined, query: query?.parse({ ...(request.query as object) }) },
        { body: given as z.output<B>, header: (name, value) => void reply.header(name, value), limitRate },
        handler,
      );
      if (failurePage) reply.code(303).send();
      else if (response) await sendJson(operation, response.parse(result), call);
      else reply.send();
    },
    describe: (components, tags) =>
      describeOperation(operation, tags, {
        query: queryParameters(query, components),
        ...(body && {
          requestBody: {
            required: true,
            content: {
              [body.form ? formType : 'application/json']: {
                schema: toSchema(body.schema, 'input', components),
              },
            },
          },
        }),
        success: successOf(failurePage !== undefined, response, components),
        failures: body ? [422] : [],
        hasPage: failurePage !== undefined,
      }),
  });
};
