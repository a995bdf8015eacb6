import { useEffect, useEffectEvent, useRef, useState } from 'react';
import {
  ApiProblem,
  addressOf,
  type Body,
  perform,
  send,
  useAction,
  useEditForm,
  usePermission,
} from '../../api/index.ts';
import type { PublicSemanticDataModel, SemanticDataModelIssue } from '../../api/types.gen.ts';
import { EditForm } from '../../resource/index.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import {
  Button,
  Callout,
  downloadText,
  notify,
  Problem,
  permissionReason,
  Textarea,
} from '../../ui/index.ts';
import { bodyOf } from './model.ts';
import { Problems } from './Problems.tsx';
import type { semanticDataModelSearch } from './search.ts';
import { readYaml, toYaml } from './yaml.ts';

const toValues = (model: PublicSemanticDataModel) => ({ text: toYaml(bodyOf(model)) });

/** Issues of a refused save, at their places. */
const issuesOf = (error: unknown): SemanticDataModelIssue[] | null =>
  error instanceof ApiProblem && error.details.length > 0
    ? error.details.map(({ path, message }) => ({
        severity: 'error',
        code: 'refused',
        path,
        message,
        suggestions: [],
      }))
    : null;

/** The model as YAML, to change it as a whole. Problems lead to their lines. */
export const TextTab = ({
  model,
  etag,
  disabledReason,
}: {
  model: PublicSemanticDataModel;
  etag: string | null;
  disabledReason: string | null;
}) => {
  const params = { semantic_data_model_id: model.id };
  const { search, replace } = useUrlState<ReturnType<typeof semanticDataModelSearch>>();
  const mayCheck = permissionReason(usePermission('validateSemanticDataModelBody'));
  const input = useRef<HTMLTextAreaElement>(null);
  const { errors, warnings } = model.validation;
  // Until the text is checked, the problems are those of the stored model.
  const [found, setIssues] = useState<SemanticDataModelIssue[] | null>(null);
  const issues = found ?? [...errors, ...warnings];
  const [clean, setClean] = useState(false);
  /** The body in the text; null, with its errors as problems, if it cannot be read. */
  const read = (text: string): Body<'replaceSemanticDataModel'> | null => {
    const { value, errors } = readYaml(text);
    setIssues(errors);
    setClean(false);
    return errors.length > 0 ? null : Object(value);
  };
  const edit = useEditForm({
    read: 'getSemanticDataModel',
    change: 'replaceSemanticDataModel',
    params,
    loaded: { body: model, etag },
    toValues,
    toBody: ({ text }) => {
      const body = read(text);
      if (!body) throw new ApiProblem(422, { code: 'yaml', message: words.unreadable });
      return body;
    },
    readRefusal: (refusal) => {
      const found = issuesOf(refusal);
      if (!found) return refusal;
      setIssues(found);
      return new ApiProblem(422, { code: 'refused', message: words.refused(found.length) });
    },
    disabledReason,
  });
  const { form } = edit;
  const check = useAction(async () => {
    const body = read(form.values.text);
    if (!body) return;
    const { issues } = (await perform('validateSemanticDataModelBody', {}, { body })).body;
    setIssues(issues);
    setClean(issues.length === 0);
  });
  const exporting = useAction(async () => {
    const reply = await send('GET', addressOf('exportSemanticDataModel', params));
    downloadText(await reply.text(), `${model.name}.yaml`, 'application/yaml');
  });
  const { placeOf } = readYaml(form.values.text);
  const show = (at: string): void => {
    const place = placeOf(at);
    const area = input.current;
    if (!place || !area) return;
    const end = area.value.indexOf('\n', place.offset);
    area.focus();
    area.setSelectionRange(place.offset, end < 0 ? area.value.length : end);
    // Browsers do not scroll to a selection that a script makes.
    const lineHeight = Number.parseFloat(getComputedStyle(area).lineHeight) || 20;
    area.scrollTop = Math.max(0, (place.line - 4) * lineHeight);
  };
  const showLinked = useEffectEvent((at: string) => {
    show(at);
    replace({ at: undefined });
  });
  const { at } = search;
  useEffect(() => {
    if (at !== undefined) showLinked(at);
  }, [at]);
  return (
    <>
      {issues.length > 0 && (
        <Problems
          issues={issues}
          placeOf={(issue) => {
            const place = placeOf(issue.path);
            return (
              place && (
                <Button small kind="quiet" onClick={() => show(issue.path)}>
                  {words.line(place.line)}
                </Button>
              )
            );
          }}
        />
      )}
      <EditForm
        wide
        edit={edit}
        labels={words}
        onSaved={() => {
          setIssues(null);
          notify(words.saved);
        }}
        actions={
          <>
            <Button busy={check.busy} disabledReason={mayCheck} onClick={() => void check.run()}>
              {words.check}
            </Button>
            <Button kind="quiet" busy={exporting.busy} onClick={() => void exporting.run()}>
              {words.export}
            </Button>
          </>
        }
      >
        <Textarea
          {...form.field('text')}
          inputRef={input}
          label={words.text}
          hint={words.textHint}
          rows={28}
          wrap={false}
          mono
        />
        {clean && (
          <div role="status">
            <Callout tone="good" title={words.checked} />
          </div>
        )}
        {check.error && <Problem error={check.error} />}
        {exporting.error && <Problem error={exporting.error} />}
      </EditForm>
    </>
  );
};
