import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { ApiProblem, type Body, perform, upload, useForm, usePermission } from '../../api/index.ts';
import { DiscardButton, FormProblems } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { extractions as words } from '../../text/en/extractions.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Button,
  Checkbox,
  Form,
  Muted,
  optionsOf,
  Page,
  permissionReason,
  Segmented,
  Textarea,
  TextField,
} from '../../ui/index.ts';
import { DocumentField, PickedDocument, pickedOf } from './DocumentField.tsx';
import { SchemaFields } from './SchemaFields.tsx';
import { emptyField, fieldsOf, schemaOf } from './schema.ts';
import type { newExtractionSearch } from './search.ts';

const first = {
  file: null as File | null,
  /** Has no value: the faults of the schema are its own. */
  schema: null,
  fields: [emptyField],
  kind: 'fields' as 'fields' | 'json',
  json: '',
  instructions: '',
  pages: '',
  grounded: false,
};
/** Values of the last request, until the window is closed: often the next document has the same fields. */
let lastValues = first;

const kinds = optionsOf(words.schemaKinds);
type Asked = Omit<Body<'createExtraction'>, 'file'>;

const refuse = (path: string, message: string): never => {
  throw new ApiProblem(422, { details: [{ path, message }], message: '' });
};

/** The schema that the form asks for. Throws a fault of its field. */
const schemaIn = ({ kind, fields, json }: typeof first): Asked['schema'] => {
  if (kind === 'fields') {
    const schema = schemaOf(fields);
    return Object.keys(schema.properties as object).length > 0 ? schema : refuse('schema', words.noFields);
  }
  try {
    return JSON.parse(json);
  } catch {
    return refuse('schema', words.jsonWrong);
  }
};

/** Asks for data from a document: an upload, or a file that the address names. */
export const NewExtractionPage = () => {
  const navigate = useNavigate();
  const picked = pickedOf(useUrlState<ReturnType<typeof newExtractionSearch>>().search);
  const reason = permissionReason(usePermission('createExtraction'));
  const [share, setShare] = useState<number | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const sending = useRef<AbortController>(null);

  /** Returns null if the upload was stopped. */
  const send = async (file: File | null, asked: Asked) => {
    if (picked) {
      return (await perform('createExtraction', {}, { body: { file: picked, ...asked } })).body;
    }
    const form = new FormData();
    form.append('schema', JSON.stringify(asked.schema));
    if (asked.instructions) form.append('instructions', asked.instructions);
    form.append('options', JSON.stringify(asked.options));
    form.append('file', file!, file!.name);
    const stopping = new AbortController();
    sending.current = stopping;
    const { signal } = stopping;
    setShare(0);
    try {
      return (await upload('createExtraction', {}, form, { onProgress: setShare, signal })).body;
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    } finally {
      setShare(null);
    }
  };

  const save = async (values: typeof first) => {
    if (!picked && !values.file) refuse('file', words.fileRequired);
    const schema = schemaIn(values);
    const made = await send(values.file, {
      schema,
      instructions: values.instructions.trim() || undefined,
      options: {
        wait_seconds: 0,
        include_pages: true,
        require_grounding: values.grounded,
        ...(values.pages.trim() && { pages: values.pages.trim() }),
      },
    });
    if (!made) return;
    lastValues = { ...values, file: null };
    await navigate({ href: to('/extractions/$extractionId', { extractionId: made.id }) });
  };
  const form = useForm(lastValues, save, {
    disabledReason: reason,
    fieldOf: (path) => path.replace(/^options\./, ''),
  });
  const { values } = form;
  const changeKind = (kind: typeof first.kind) => {
    setNote(null);
    if (kind === 'json') return form.set({ kind, json: JSON.stringify(schemaOf(values.fields), null, 2) });
    let fields = null;
    try {
      fields = fieldsOf(JSON.parse(values.json));
    } catch {}
    if (fields) form.set({ kind, fields });
    else setNote(words.jsonOnly);
  };
  const { error: schemaError } = form.field('schema');
  return (
    <Page
      title={pages.newExtraction}
      crumbs={[{ label: pages.extractions, href: to('/extractions') }]}
      lead={words.dataNote}
    >
      <Form
        onSubmit={() => void form.submit()}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy} disabledReason={reason}>
              {words.extract}
            </Button>
            {share !== null ? (
              <>
                <Button onClick={() => sending.current?.abort()}>{words.stop}</Button>
                <span role="status">
                  <Muted>{words.sending(share)}</Muted>
                </span>
              </>
            ) : (
              <DiscardButton href={to('/extractions')} />
            )}
          </>
        }
      >
        {picked ? <PickedDocument picked={picked} /> : <DocumentField {...form.field('file')} />}
        <Segmented label={words.want} value={values.kind} options={kinds} onChange={changeKind} />
        {note && (
          <p role="status">
            <Muted>{note}</Muted>
          </p>
        )}
        {values.kind === 'fields' ? (
          <SchemaFields
            value={values.fields}
            onChange={(fields) => form.set({ fields, schema: null })}
            error={schemaError}
          />
        ) : (
          <Textarea
            name="schema"
            label={words.json}
            hint={words.jsonHint}
            rows={14}
            mono
            value={values.json}
            onChange={(json) => form.set({ json, schema: null })}
            error={schemaError}
          />
        )}
        <Textarea
          {...form.field('instructions')}
          label={words.instructions}
          hint={words.instructionsHint}
          rows={2}
        />
        <TextField {...form.field('pages')} label={words.pagesField} hint={words.pagesHint} />
        <Checkbox {...form.field('grounded')} label={words.grounded} hint={words.groundedHint} />
        <FormProblems form={form} />
      </Form>
    </Page>
  );
};
