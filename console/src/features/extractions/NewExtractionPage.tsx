import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import {
  ApiProblem,
  request,
  upload,
  useForm,
  useInvalidate,
  usePermission,
} from '../../api/index.ts';
import type { Extraction } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useUrlState } from '../../app/url-state.ts';
import { common } from '../../text/en/common.ts';
import { extractions as words } from '../../text/en/extractions.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Button,
  ButtonLink,
  Checkbox,
  Form,
  Page,
  Problem,
  permissionReason,
  Quiet,
  Segmented,
  Textarea,
  TextField,
} from '../../ui/index.ts';
import { DocumentField, PickedDocument, pickedOf } from './DocumentField.tsx';
import { SchemaFields } from './SchemaFields.tsx';
import { emptyField, fieldsOf, schemaOf } from './schema.ts';
import type { newExtractionSearch } from './search.ts';

const first = {
  fields: [emptyField],
  kind: 'fields' as 'fields' | 'json',
  json: '',
  instructions: '',
  pages: '',
  grounded: false,
};
/** What was asked last, until the window is closed: often the next document has the same fields. */
let lastValues = first;

const kinds = Object.entries(words.schemaKinds).map(([value, label]) => ({
  value: value as typeof first.kind,
  label,
}));

const refuse = (path: string, message: string): never => {
  throw new ApiProblem(422, { details: [{ path, message }], message: '' });
};

/** The schema that the form asks for. Throws a fault of its field. */
const schemaIn = ({ kind, fields, json }: typeof first): object => {
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
  const invalidate = useInvalidate();
  const picked = pickedOf(useUrlState<ReturnType<typeof newExtractionSearch>>().search);
  const reason = permissionReason(usePermission('createExtraction'));
  const [file, setFile] = useState<File | null>(null);
  const [missing, setMissing] = useState(false);
  const [share, setShare] = useState<number | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const sending = useRef<AbortController>(null);

  const send = async (asked: { schema: object; instructions: string | undefined; options: object }) => {
    if (picked) {
      return request<Extraction>('POST', '/api/v2/document-intelligence/extract', {
        body: { file: picked.file, ...asked },
      });
    }
    const form = new FormData();
    form.append('schema', JSON.stringify(asked.schema));
    if (asked.instructions) form.append('instructions', asked.instructions);
    form.append('options', JSON.stringify(asked.options));
    form.append('file', file!, file!.name);
    sending.current = new AbortController();
    setShare(0);
    return upload<Extraction>('/api/v2/document-intelligence/extract', form, {
      onProgress: setShare,
      signal: sending.current.signal,
    }).finally(() => setShare(null));
  };

  const form = useForm(lastValues, async (values) => {
    if (!picked && !file) {
      setMissing(true);
      refuse('file', words.fileRequired);
    }
    const schema = schemaIn(values);
    const { body } = await send({
      schema,
      instructions: values.instructions.trim() || undefined,
      options: {
        wait_seconds: 0,
        include_pages: true,
        require_grounding: values.grounded,
        ...(values.pages.trim() && { pages: values.pages.trim() }),
      },
    });
    lastValues = values;
    void invalidate('/api/v2/extractions');
    await navigate({ to: to.extraction(body.id) });
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
  const fileError = form.field('file' as never).error as string | undefined;
  const schema = form.field('schema' as never).error as string | undefined;
  const pagesField = form.field('options.pages' as never).error as string | undefined;
  const stopped = form.error !== null && !(form.error instanceof ApiProblem);
  return (
    <Page
      title={pages.newExtraction}
      crumbs={[{ label: pages.extractions, href: to.extractions() }]}
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
                  <Quiet>{words.sending(share)}</Quiet>
                </span>
              </>
            ) : (
              <ButtonLink kind="quiet" href={to.extractions()}>
                {common.discard}
              </ButtonLink>
            )}
          </>
        }
      >
        {picked ? (
          <PickedDocument picked={picked} />
        ) : (
          <DocumentField
            file={file}
            onChange={(chosen) => {
              setFile(chosen);
              setMissing(false);
              form.set({ file: undefined } as never);
            }}
            error={fileError ?? (missing && !file ? words.fileRequired : undefined)}
          />
        )}
        <Segmented label={words.schemaAs} value={values.kind} options={kinds} onChange={changeKind} />
        {note && (
          <p role="status">
            <Quiet>{note}</Quiet>
          </p>
        )}
        {values.kind === 'fields' ? (
          <SchemaFields
            value={values.fields}
            onChange={(fields) => form.set({ fields, schema: undefined } as never)}
            error={schema}
          />
        ) : (
          <Textarea
            name="schema"
            label={words.json}
            hint={words.jsonHint}
            rows={14}
            mono
            value={values.json}
            onChange={(json) => form.set({ json, schema: undefined } as never)}
            error={schema}
          />
        )}
        <Textarea
          {...form.field('instructions')}
          label={words.instructions}
          hint={words.instructionsHint}
          rows={2}
          maxLength={10_000}
        />
        <TextField
          {...form.field('pages')}
          error={pagesField}
          label={words.pagesField}
          hint={words.pagesHint}
        />
        <Checkbox {...form.field('grounded')} label={words.grounded} hint={words.groundedHint} />
        {form.otherFaults.length > 0 && (
          <Problem error={new ApiProblem(422, { details: form.otherFaults, message: '' })} />
        )}
        {form.error && !stopped && <Problem error={form.error} />}
      </Form>
    </Page>
  );
};
