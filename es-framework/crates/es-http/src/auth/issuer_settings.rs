//! The settings of the issuer of tokens.

/// A token issuer, the audience that its tokens must have, and the claims that contain the roles and the owner id.
#[derive(Debug, Clone)]
pub struct IssuerSettings {
    /// The URL that the tokens name as their issuer.
    pub issuer: String,
    /// The audience that the tokens must name.
    pub audience: String,
    /// The claim with the roles.
    pub roles_claim: String,
    /// The claim with the owner id.
    pub owner_claim: String,
}
