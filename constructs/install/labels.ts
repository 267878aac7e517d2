type Labels = Readonly<Record<string, string>>;

/** What the controller's pods are selected by. */
export const controllerSelector: Labels = {
  'app.kubernetes.io/name': 'plumbline',
  'app.kubernetes.io/component': 'controller',
};

/** On every object of an installation. */
export const controllerLabels: Labels = { ...controllerSelector, 'app.kubernetes.io/part-of': 'plumbline' };

/** On what belongs to the API and stays when no controller does. */
export const apiLabels: Labels = { 'app.kubernetes.io/name': 'plumbline', 'app.kubernetes.io/part-of': 'plumbline' };
