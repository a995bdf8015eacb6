export { useCreateForm } from './create-form.ts';
export { EditConflict, EditForm } from './EditForm.tsx';
export { ListPage } from './ListPage.tsx';
export { FormProblems, SubmitForm } from './SubmitForm.tsx';
export { useSettingsTest } from './settings-test.ts';
