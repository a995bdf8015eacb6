import { type Action, type Form, request, useAction } from '../api/index.ts';

/** Tests the values of a form before they are saved; its `result` is what the test found. Faults come to their fields. */
export const useSettingsTest = <T, V extends object>(
  form: Form<V>,
  post: string,
  toBody: (values: V) => object,
): Action<[], T | undefined> =>
  useAction(async () => {
    let found: T | undefined;
    await form.attempt(async (values) => {
      found = (await request<T>('POST', post, { body: toBody(values) })).body;
    });
    return found;
  });
