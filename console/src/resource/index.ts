export { useAgentExample } from './agent-example.ts';
export { useCreateForm } from './create-form.ts';
export { DeleteButton, DeleteDialog } from './DeleteDialog.tsx';
export { DetailPage, PageTabs } from './DetailPage.tsx';
export { EditConflict, EditForm } from './EditForm.tsx';
export { ListPage } from './ListPage.tsx';
export { FormProblems, SubmitForm } from './SubmitForm.tsx';
export { useSettingsTest } from './settings-test.ts';
export { UsedByAgents } from './UsedByAgents.tsx';
