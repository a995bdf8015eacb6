import {
  type Action,
  type Body,
  type ChangeId,
  type Form,
  type InputOf,
  type Output,
  type Params,
  perform,
  useAction,
} from '../api/index.ts';

/** Tests the values of a form before they are saved; its `result` is what the test found. Faults come to their fields. */
export const useSettingsTest = <O extends ChangeId, V extends object>(
  form: Form<V>,
  operation: O,
  toBody: (values: V) => Body<O>,
): Action<[], Output<O> | undefined> =>
  useAction(async () => {
    let found: Output<O> | undefined;
    await form.attempt(async (values) => {
      const input = [{ body: toBody(values) }] as unknown as InputOf<O>;
      found = (await perform(operation, {} as Params<O>, ...input)).body;
    });
    return found;
  });
