import type { ChangeId } from './changes.ts';
import { refreshAfter } from './mutation.ts';
import { addressOf, type Output, type Params } from './operations.ts';
import { ApiProblem, fail, type Reply } from './request.ts';

export interface UploadOptions {
  onProgress?: (share: number) => void;
  signal?: AbortSignal;
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const problemOf = ({ status, statusText, response }: XMLHttpRequest): ApiProblem => {
  const body = parse(response) as { error?: Record<string, unknown> } | undefined;
  return new ApiProblem(status, body?.error ?? { code: 'unknown', message: `${status} ${statusText}` });
};

/** An upload by XMLHttpRequest: `fetch` does not report how much was sent. */
const sendForm = <T>(
  path: string,
  form: FormData,
  { onProgress, signal }: UploadOptions = {},
): Promise<Reply<T>> =>
  new Promise<Reply<T>>((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    const end = (settle: () => void) => {
      signal?.removeEventListener('abort', stop);
      settle();
    };
    request.open('POST', path);
    request.setRequestHeader('accept', 'application/json');
    request.upload.onprogress = ({ loaded, total }) => total > 0 && onProgress?.(loaded / total);
    request.onload = () =>
      end(() =>
        request.status >= 200 && request.status < 300
          ? resolve({ body: parse(request.response) as T, etag: request.getResponseHeader('etag') })
          : reject(problemOf(request)),
      );
    request.onerror = () => end(() => reject(new ApiProblem(0, { code: 'unreachable' })));
    request.onabort = () => end(() => reject(signal?.reason));
    if (signal?.aborted) return reject(signal.reason);
    signal?.addEventListener('abort', stop, { once: true });
    request.send(form);
  }).catch((error: unknown) => {
    if (error instanceof ApiProblem) fail(error);
    throw error;
  });

/** Sends a form with a file, and reads again what shows it. Throws `ApiProblem`, or the reason of its signal. */
export const upload = async <O extends ChangeId>(
  operation: O,
  params: Params<O>,
  form: FormData,
  options?: UploadOptions,
): Promise<Reply<Output<O>>> => {
  const reply = await sendForm<Output<O>>(addressOf(operation, params), form, options);
  void refreshAfter(operation);
  return reply;
};
