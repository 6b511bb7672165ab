//! The words that names of businesses have in common, in the languages of the sixteen countries.
//!
//! Those of Russian, Greek and Japanese are in Latin letters here; a listing may write them in their own.

use super::country::Language;

pub(super) const ENGLISH: Language = Language {
    kinds: [
        "Bakery",
        "Pharmacy",
        "Restaurant",
        "Hotel",
        "Cafe",
        "Auto Repair",
        "Florist",
        "Bookshop",
        "Hair Salon",
        "Bank",
        "Supermarket",
        "Dental Practice",
    ],
    extras: ["Old", "Royal", "Green", "City", "Golden", "Corner", "Family", "Central"],
    and: "&",
    kind_first: false,
};

pub(super) const GERMAN: Language = Language {
    kinds: [
        "Bäckerei",
        "Apotheke",
        "Gasthaus",
        "Hotel",
        "Café",
        "Autowerkstatt",
        "Blumen",
        "Buchhandlung",
        "Friseur",
        "Sparbank",
        "Lebensmittel",
        "Zahnarztpraxis",
    ],
    extras: ["Alte", "Neue", "Grüne", "Stadt", "Goldene", "Zentral", "Familien", "König"],
    and: "und",
    kind_first: true,
};

pub(super) const FRENCH: Language = Language {
    kinds: [
        "Boulangerie",
        "Pharmacie",
        "Restaurant",
        "Hôtel",
        "Café",
        "Garage",
        "Fleuriste",
        "Librairie",
        "Coiffure",
        "Banque",
        "Épicerie",
        "Cabinet dentaire",
    ],
    extras: ["Vieux", "Royal", "Vert", "Grand", "Doré", "Petit", "Central", "Jardin"],
    and: "et",
    kind_first: true,
};

pub(super) const SPANISH: Language = Language {
    kinds: [
        "Panadería",
        "Farmacia",
        "Restaurante",
        "Hotel",
        "Cafetería",
        "Taller",
        "Floristería",
        "Librería",
        "Peluquería",
        "Banco",
        "Supermercado",
        "Clínica dental",
    ],
    extras: ["Viejo", "Real", "Verde", "Gran", "Dorado", "Rincón", "Central", "Jardín"],
    and: "y",
    kind_first: true,
};

pub(super) const PORTUGUESE: Language = Language {
    kinds: [
        "Padaria",
        "Farmácia",
        "Restaurante",
        "Pousada",
        "Lanchonete",
        "Oficina",
        "Floricultura",
        "Livraria",
        "Salão de beleza",
        "Banco",
        "Mercado",
        "Consultório odontológico",
    ],
    extras: ["Velha", "Real", "Verde", "Nova", "Dourada", "Esquina", "Central", "Estação"],
    and: "e",
    kind_first: true,
};

pub(super) const ITALIAN: Language = Language {
    kinds: [
        "Panificio",
        "Farmacia",
        "Trattoria",
        "Albergo",
        "Caffè",
        "Autofficina",
        "Fiorista",
        "Libreria",
        "Parrucchiere",
        "Banca",
        "Alimentari",
        "Studio dentistico",
    ],
    extras: ["Vecchia", "Reale", "Verde", "Nuova", "Dorata", "Piccola", "Centrale", "Giardino"],
    and: "e",
    kind_first: true,
};

pub(super) const DUTCH: Language = Language {
    kinds: [
        "Bakkerij",
        "Apotheek",
        "Restaurant",
        "Hotel",
        "Koffiehuis",
        "Autobedrijf",
        "Bloemenhuis",
        "Boekhandel",
        "Kapsalon",
        "Spaarbank",
        "Supermarkt",
        "Tandartspraktijk",
    ],
    extras: ["Oude", "Nieuwe", "Groene", "Stads", "Gouden", "Hoek", "Kleine", "Centrum"],
    and: "en",
    kind_first: true,
};

pub(super) const SWEDISH: Language = Language {
    kinds: [
        "Bageri",
        "Apotek",
        "Restaurang",
        "Hotell",
        "Kafé",
        "Bilverkstad",
        "Blomster",
        "Bokhandel",
        "Frisör",
        "Sparbank",
        "Livsmedel",
        "Tandläkare",
    ],
    extras: ["Gamla", "Nya", "Gröna", "Stads", "Gyllene", "Hörnan", "Lilla", "Centrum"],
    and: "och",
    kind_first: false,
};

pub(super) const POLISH: Language = Language {
    kinds: [
        "Piekarnia",
        "Apteka",
        "Restauracja",
        "Hotel",
        "Kawiarnia",
        "Warsztat",
        "Kwiaciarnia",
        "Księgarnia",
        "Fryzjer",
        "Bank",
        "Sklep spożywczy",
        "Gabinet stomatologiczny",
    ],
    extras: ["Stara", "Nowa", "Zielona", "Miejska", "Złota", "Rodzinna", "Mała", "Centralna"],
    and: "i",
    kind_first: true,
};

pub(super) const TURKISH: Language = Language {
    kinds: [
        "Fırını",
        "Eczanesi",
        "Lokantası",
        "Oteli",
        "Kahvesi",
        "Oto Servis",
        "Çiçekçilik",
        "Kitabevi",
        "Kuaförü",
        "Bankası",
        "Marketi",
        "Diş Kliniği",
    ],
    extras: ["Eski", "Yeni", "Yeşil", "Şehir", "Altın", "Köşe", "Küçük", "Merkez"],
    and: "ve",
    kind_first: false,
};

pub(super) const RUSSIAN: Language = Language {
    kinds: [
        "Pekarnya",
        "Apteka",
        "Restoran",
        "Gostinitsa",
        "Kofeynya",
        "Avtoservis",
        "Tsvety",
        "Knigi",
        "Parikmakherskaya",
        "Bank",
        "Produkty",
        "Stomatologiya",
    ],
    extras: ["Staraya", "Novaya", "Zelenaya", "Gorod", "Zolotoy", "Ugolok", "Dom", "Tsentr"],
    and: "i",
    kind_first: true,
};

pub(super) const GREEK: Language = Language {
    kinds: [
        "Artopoieio",
        "Farmakeio",
        "Taverna",
        "Ksenodocheio",
        "Kafeneio",
        "Synergeio",
        "Anthopoleio",
        "Vivliopoleio",
        "Kommotirio",
        "Trapeza",
        "Pantopoleio",
        "Odontiatreio",
    ],
    extras: ["Palio", "Neo", "Prasino", "Poli", "Chryso", "Gonia", "Mikro", "Kentro"],
    and: "kai",
    kind_first: true,
};

pub(super) const JAPANESE: Language = Language {
    kinds: [
        "Panya",
        "Kusuriya",
        "Shokudou",
        "Ryokan",
        "Kissaten",
        "Jidousha",
        "Hanaya",
        "Honya",
        "Biyoushitsu",
        "Ginkou",
        "Suupaa",
        "Shika",
    ],
    extras: ["Furui", "Atarashi", "Midori", "Machi", "Kin", "Kado", "Chiisai", "Chuuou"],
    and: "to",
    kind_first: false,
};
