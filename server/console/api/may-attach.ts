/** Either right: older policies have the first, newer ones the second. */
export const mayAttach = ['admin:UpdatePolicyAssociation', 'admin:AttachUserOrGroupPolicy'] as const;
